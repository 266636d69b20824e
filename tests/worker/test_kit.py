"""Is the arithmetic that adapters share right: windows, shares, Adam's corrections, loss scales, generated source?"""

import itertools
import math
import unittest

import numpy as np
from sketch import SGD, Sketch

from netdyno_worker.adapters.kit.adam import adam_epsilon, adam_rate
from netdyno_worker.adapters.kit.loss_scale import GOOD_STEPS, next_scale
from netdyno_worker.adapters.kit.powers import negative_power
from netdyno_worker.adapters.kit.source import Outline, execute
from netdyno_worker.adapters.kit.statistics import variance_factors
from netdyno_worker.adapters.kit.windows import (
    Axis,
    axes_over,
    edges,
    find_rounding,
    inside_counts,
    inside_shares,
    needs_subsampling,
    same_sides,
    window_count,
)
from netdyno_worker.contract import Unsupported
from netdyno_worker.program import read_program


class Windows(unittest.TestCase):
    def test_windows_are_counted_and_cut_off_as_a_walk_over_the_padded_axis_does(self):
        for size, kernel, stride, before, after in itertools.product((5, 6), (1, 2, 3), (1, 2, 3), (0, 1), (0, 1)):
            attributes = {"strides": (stride, stride), "padding": (before, after, before, after)}
            axis = axes_over((size, size), (kernel, kernel), attributes)[0]
            walked = [range(s, s + kernel) for s in range(-before, size + after - kernel + 1, stride)]
            inside = [[place for place in window if 0 <= place < size] for window in walked]
            self.assertEqual(axis.count, len(walked))
            first, end = edges(axis)
            self.assertEqual((end - first).tolist(), [len(found) for found in inside])

    def test_a_share_is_the_part_of_a_window_inside_the_image(self):
        axes = axes_over((4, 3), (3, 2), {"strides": (1, 1), "padding": (1, 1, 0, 1)})
        np.testing.assert_array_equal(inside_counts(axes), [[4, 4, 2], [6, 6, 3], [6, 6, 3], [4, 4, 2]])
        np.testing.assert_allclose(inside_shares(axes)[1], [1.0, 1.0, 0.5])

    def test_rounding_up_is_found_where_only_that_gives_the_windows(self):
        even, over = Axis(6, 2, 2, 0, 3), Axis(7, 3, 3, 0, 3)
        self.assertIs(find_rounding([even, even]), False)
        self.assertIs(find_rounding([even, over]), True)
        self.assertIsNone(find_rounding([even, over], roundings=(False,)))
        self.assertIsNone(find_rounding([Axis(6, 2, 2, 1, 3)] * 2))

    def test_a_library_may_count_windows_in_its_own_way(self):
        self.assertIs(find_rounding([Axis(6, 2, 2, 0, 9)] * 2, (True,), lambda axis, padding, ceil: 9), True)

    def test_only_a_strided_pointwise_convolution_of_few_channels_needs_subsampling(self):
        def asked(kernel, strides, channels):
            axes = axes_over((12, 12), kernel, {"strides": strides, "padding": (0, 0, 0, 0)})
            return needs_subsampling(axes, channels)

        self.assertTrue(asked((1, 1), (1, 2), 15))
        self.assertTrue(asked((1, 1), (2, 2), 3))
        self.assertFalse(asked((1, 1), (2, 2), 16))
        self.assertFalse(asked((1, 1), (1, 1), 3))
        self.assertFalse(asked((1, 3), (2, 2), 3))

    def test_padding_called_same_keeps_the_size_over_the_stride(self):
        for size, kernel, stride in itertools.product((5, 6, 7), (2, 3, 5), (1, 2, 3)):
            before, after = same_sides(Axis(size, kernel, stride, 0, 0))
            self.assertIn(after - before, (0, 1))
            if before + after:
                self.assertEqual((size + before + after - kernel) // stride + 1, math.ceil(size / float(stride)))

    def test_padding_on_both_sides_counts_twice(self):
        self.assertEqual(window_count(Axis(6, 3, 2, 1, 0), 1), 3)
        self.assertEqual(window_count(Axis(6, 3, 2, 1, 0), 1, ceil=True), 4)


class Optimizers(unittest.TestCase):
    def test_corrected_rate_and_epsilon_give_the_graphs_step(self):
        rate, beta1, beta2, epsilon, first, second = 0.01, 0.9, 0.999, 1e-3, 0.3, 0.02
        for step in (1, 2, 10, 1000):
            powers = beta1**step, beta2**step
            whole = rate * (first / (1 - powers[0])) / (math.sqrt(second / (1 - powers[1])) + epsilon)
            found = adam_rate(rate, *powers) * first / (math.sqrt(second) + adam_epsilon(epsilon, powers[1]))
            self.assertAlmostEqual(found, whole, delta=1e-12)

    def test_a_loss_scale_halves_after_overflow_and_doubles_after_many_good_steps(self):
        self.assertEqual([float(v) for v in next_scale(8.0, 5, False, np.where)], [4.0, 0.0])
        self.assertEqual([float(v) for v in next_scale(8.0, 5, True, np.where)], [8.0, 6.0])
        self.assertEqual([float(v) for v in next_scale(8.0, GOOD_STEPS - 1, True, np.where)], [16.0, 0.0])

    def test_roots_give_the_same_power(self):
        for beta in (0.5, 0.75, 0.6):
            found = negative_power(3.0, beta, lambda x: 1.0 / math.sqrt(x), math.sqrt)
            self.assertAlmostEqual(found, 3.0**-beta, delta=1e-12)


class Statistics(unittest.TestCase):
    def test_a_factor_is_the_unbiased_over_the_biased_variance(self):
        x = np.random.RandomState(0).randn(2, 4, 3, 5)
        (factor,) = variance_factors(_normalised([2, 4, 3, 5])).values()
        np.testing.assert_allclose(x[:, 0].var() * factor, x[:, 0].var(ddof=1))

    def test_a_single_value_has_no_other_variance(self):
        self.assertEqual(list(variance_factors(_normalised([1, 4])).values()), [1.0])

    def test_a_variance_shared_by_batches_of_two_sizes_is_refused(self):
        sketch = _norms([2, 4], [3, 4])
        with self.assertRaisesRegex(Unsupported, "running_variance.*different numbers"):
            variance_factors(read_program(sketch.wire("y0")))


class Source(unittest.TestCase):
    def test_a_function_computes_its_target_and_deletes_values_after_their_last_use(self):
        outline = Outline(_chain(), "z")
        text = outline.text(lambda node, variables: " + ".join(variables))
        self.assertEqual(outline.leaves, ["x", "w"])
        self.assertIn("    del v2", text)
        self.assertEqual(execute(text, {})([3, 4]), 14)

    def test_several_targets_make_a_tuple_and_are_not_deleted(self):
        text = Outline(_chain(), ["y", "z"]).text(lambda node, variables: " + ".join(variables))
        self.assertNotIn("del", text)
        self.assertEqual(execute(text, {})([3, 4]), (7, 14))

    def test_a_method_reads_parameters_from_its_owner(self):
        outline = Outline(_chain(), "z")
        method = execute(outline.method_text(lambda node, variables: " + ".join(variables)), {})
        owner = type("Owner", (), {outline.variable("w"): 4})
        self.assertEqual(method(owner, 3), 14)

    def test_what_two_nodes_compute_alike_is_computed_once(self):
        self.assertEqual([node.name for node in Outline(_repeats("tanh"), "z").nodes], ["y1", "z"])
        self.assertEqual(Outline(_repeats("tanh"), "z").used, {"x": 1, "y1": 2, "z": 1})

    def test_a_repeated_value_that_is_wanted_and_a_second_draw_are_kept(self):
        self.assertEqual(len(Outline(_repeats("tanh"), ["y2", "z"]).nodes), 3)
        self.assertEqual(len(Outline(_repeats("bernoulli", seed=1), "z").nodes), 3)


def _normalised(shape):
    return read_program(_norms(shape).wire("y0"))


def _norms(*shapes):
    sketch = Sketch()
    state = sketch.state("norm", shapes[0][1])
    for number, shape in enumerate(shapes):
        x = sketch.input("x%d" % number, shape)
        sketch.node("y%d" % number, "batch_norm", [x, *state], shape, epsilon=1e-3, momentum=0.1)
    return sketch


def _repeats(op, **attributes):
    """y1 and y2 are the same op of x; z = y1 + y2."""
    sketch = Sketch()
    inputs = [sketch.input("x", [2])]
    for name in ("y1", "y2"):
        sketch.node(name, op, inputs, [2], **attributes)
    sketch.node("z", "add", ["y1", "y2"], [2])
    return read_program(sketch.wire("z"))


def _chain():
    """y = x + w, z = y + y."""
    sketch = Sketch()
    names = [sketch.input("x", [2]), sketch.parameter("w", [2])]
    sketch.node("y", "add", names, [2])
    sketch.node("z", "add", ["y", "y"], [2])
    sketch.update("z", SGD)
    return read_program(sketch.wire("z"))


if __name__ == "__main__":
    unittest.main()
