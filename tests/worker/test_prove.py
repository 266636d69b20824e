"""How a trainer's arrays are compared with the reference's."""

import os
import tempfile
import unittest

import numpy as np

from netdyno_worker.tasks.prove import compare_with, write_arrays


class ProveTest(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(tempfile.mkdtemp(), "reference.npz")
        self.reference = {
            "outputs/0/fc": np.array([1.0, 2.0]),
            "losses/0/train": np.array(2.0),
            "gradients/0/train/w": np.array([3.0, 4.0]),
            "gradients/1/train/w": np.array([4.0, 3.0]),
            "gradients/0/train/b": np.array([0.0, 0.0]),
            "parameters/0/w": np.array([0.9, 0.9]),
            "moved/0/w": np.array([-0.1, -0.1]),
        }
        write_arrays(self.path, self.reference)

    def errors(self, **changes):
        arrays = dict(self.reference)
        arrays.update({name.replace("__", "/"): value for name, value in changes.items()})
        return compare_with(self.path, arrays)

    def test_equal_arrays_have_no_error(self):
        errors = self.errors()
        self.assertTrue(all(max(kind.values()) < 1e-7 for kind in errors.values()))

    def test_an_error_is_relative_to_the_reference(self):
        self.assertAlmostEqual(self.errors(outputs__0__fc=np.array([1.01, 2.02]))["outputs"]["fc"], 0.01, places=6)

    def test_a_parameter_is_judged_by_how_far_it_moved(self):
        self.assertAlmostEqual(self.errors(moved__0__w=np.array([-0.11, -0.11]))["moved"]["w"], 0.1, places=6)

    def test_a_gradient_that_is_off_in_one_batch_by_chance_is_right_in_another(self):
        once = self.errors(gradients__0__train__w=np.array([3.3, 4.4]))["gradients"]["train/w"]
        self.assertLess(once, 1e-6)
        wrong = {"gradients__0__train__w": np.array([3.3, 4.4]), "gradients__1__train__w": np.array([4.4, 3.3])}
        self.assertAlmostEqual(self.errors(**wrong)["gradients"]["train/w"], 0.1, places=6)

    def test_noise_in_a_gradient_that_should_vanish_is_judged_against_the_largest(self):
        noisy = self.errors(gradients__0__train__b=np.array([1e-8, -1e-8]))["gradients"]["train/b"]
        self.assertLess(noisy, 1e-5)
        wrong = self.errors(gradients__0__train__b=np.array([1.0, 1.0]))["gradients"]["train/b"]
        self.assertGreater(wrong, 1.0)

    def test_a_missing_or_misshapen_array_is_wholly_wrong(self):
        self.assertEqual(self.errors(outputs__0__fc=np.zeros(3))["outputs"]["fc"], 1.0)
        arrays = dict(self.reference)
        del arrays["outputs/0/fc"]
        self.assertEqual(compare_with(self.path, arrays)["outputs"]["fc"], 1.0)

    def test_not_a_number_never_passes(self):
        self.assertEqual(self.errors(outputs__0__fc=np.array([np.nan, 2.0]))["outputs"]["fc"], float("inf"))


if __name__ == "__main__":
    unittest.main()
