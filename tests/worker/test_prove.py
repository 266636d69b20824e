"""How far a trainer's arrays are from the reference's."""

import os
import tempfile
import unittest

import numpy as np

from netdyno_worker.tasks.prove import Differences, write_arrays


def differences(path, arrays):
    with Differences(path) as found:
        for key, array in arrays.items():
            found.add(key, array)
        return found.found()


class ProveTest(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(tempfile.mkdtemp(), "reference.npz")
        self.reference = {
            "outputs/fc": np.array([1.0, 2.0]),
            "losses/train.0": np.array(2.0),
            "gradients/train/w": np.array([3.0, 4.0]),
            "parameters/w": np.array([0.9, 0.9]),
        }
        write_arrays(self.path, self.reference)

    def far(self, name, array):
        return differences(self.path, dict(self.reference, **{name: array}))[name]

    def test_equal_arrays_do_not_differ(self):
        self.assertEqual(set(differences(self.path, self.reference).values()), {0.0})

    def test_the_distance_is_a_root_mean_square(self):
        self.assertAlmostEqual(self.far("gradients/train/w", np.array([3.0, 4.2])), 0.2 / np.sqrt(2))

    def test_what_lies_below_float32_is_seen(self):
        self.assertAlmostEqual(self.far("parameters/w", np.array([0.9, 0.9 + 1e-12])) * 1e12, np.sqrt(0.5), places=3)

    def test_a_missing_or_misshapen_array_is_infinitely_far(self):
        self.assertEqual(self.far("outputs/fc", np.zeros(3)), float("inf"))
        arrays = dict(self.reference)
        del arrays["outputs/fc"]
        self.assertEqual(differences(self.path, arrays)["outputs/fc"], float("inf"))

    def test_not_a_number_is_infinitely_far(self):
        self.assertEqual(self.far("outputs/fc", np.array([np.nan, 2.0])), float("inf"))

    def test_constants_are_not_kept(self):
        write_arrays(self.path, self.reference, constants=("w",))
        self.assertNotIn("parameters/w", differences(self.path, self.reference))


if __name__ == "__main__":
    unittest.main()
