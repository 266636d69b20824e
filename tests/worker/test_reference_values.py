"""Does the reference compute what the words of each op say? Compared with plain loops and hand-made numbers."""

import itertools
import math
import unittest

import numpy as np
from small_programs import CASES, job_for, start

from netdyno_worker.adapters.reference import trainer as reference
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.oracle.ops import KERNELS


class SlidingWindows(unittest.TestCase):
    def test_convolution_is_a_sum_over_each_window(self):
        self._check_cases("convolution/", _plain_convolution)

    def test_max_pool_takes_the_largest_real_value_of_each_window(self):
        self._check_cases("max_pool/", lambda node, values: _plain_pool(node, values["x"], max))

    def test_mean_pool_does_not_count_padding(self):
        mean = lambda window: sum(window) / len(window)  # noqa: E731
        self._check_cases("mean_pool/", lambda node, values: _plain_pool(node, values["x"], mean))

    def test_the_first_of_equal_maxima_gets_the_gradient(self):
        attributes = {"kernel": (2, 2), "strides": (2, 2), "padding": (0, 0, 0, 0)}
        _, kept = KERNELS["max_pool"].forward([np.zeros((1, 1, 2, 2))], attributes)
        found = KERNELS["max_pool"].backward(np.ones((1, 1, 1, 1)), kept, [True])[0]
        np.testing.assert_array_equal(found[0, 0], [[1, 0], [0, 0]])

    def _check_cases(self, prefix, plain):
        for name in sorted(CASES):
            if name.startswith(prefix):
                with self.subTest(case=name):
                    values, node = _values(CASES[name]), _node(CASES[name])
                    found = start(reference, CASES[name]).read("outputs")["y"]
                    np.testing.assert_allclose(found, plain(node, values), 1e-10, 1e-12)


class Normalisations(unittest.TestCase):
    def test_batch_norm_gives_each_channel_its_scale_and_shift(self):
        x = np.random.RandomState(0).uniform(size=(8, 2, 3, 3))
        scale, shift = np.array([2.0, 3.0]), np.array([-1.0, 1.0])
        operands = [x, scale, shift, None, None]
        value, _ = KERNELS["batch_norm"].forward(operands, {"epsilon": 1e-12, "momentum": 0.1})
        np.testing.assert_allclose(value.mean(axis=(0, 2, 3)), shift, 1e-8)
        np.testing.assert_allclose(value.std(axis=(0, 2, 3)), scale, 1e-8)

    def test_batch_norm_adds_epsilon_inside_the_root(self):
        x = np.array([[1.0], [3.0]])
        operands = [x, np.ones(1), np.zeros(1), None, None]
        value, _ = KERNELS["batch_norm"].forward(operands, {"epsilon": 3.0, "momentum": 0.1})
        np.testing.assert_allclose(value, [[-0.5], [0.5]])


class Losses(unittest.TestCase):
    def test_softmax_cross_entropy_of_even_logits_is_the_logarithm_of_the_classes(self):
        self.assertAlmostEqual(_loss("softmax_cross_entropy", np.zeros((3, 5)), [0, 4, 2]), math.log(5))

    def test_softmax_cross_entropy_stands_huge_logits(self):
        self.assertAlmostEqual(_loss("softmax_cross_entropy", [[1e4, 0.0], [0.0, 1e4]], [0, 0]), 5e3)

    def test_mean_squared_error_is_over_all_elements(self):
        self.assertAlmostEqual(_loss("mean_squared_error", [[1.0, 2.0]], [[0.0, 4.0]]), 2.5)

    def test_binary_cross_entropy_follows_its_definition(self):
        logit, target = 0.7, 0.2
        p = 1 / (1 + math.exp(-logit))
        expected = -target * math.log(p) - (1 - target) * math.log(1 - p)
        self.assertAlmostEqual(_loss("binary_cross_entropy", [[logit]], [[target]]), expected)

    def test_binary_cross_entropy_stands_huge_logits(self):
        self.assertAlmostEqual(_loss("binary_cross_entropy", [[-1e4, 1e4]], [[1.0, 1.0]]), 5e3)

    def test_gaussian_kl_sums_over_features_and_averages_over_the_batch(self):
        mean, log_variance = np.array([[1.0, 2.0], [0.0, 0.0]]), np.zeros((2, 2))
        self.assertAlmostEqual(_loss("gaussian_kl", mean, log_variance), 0.5 * 5 / 2)
        expected = -0.5 * (1 + 1.0 - math.e)
        self.assertAlmostEqual(_loss("gaussian_kl", [[0.0]], [[1.0]]), expected)


class Elementwise(unittest.TestCase):
    def test_relu_has_no_gradient_at_zero(self):
        value, kept = KERNELS["relu"].forward([np.array([-1.0, 0.0, 2.0])], {})
        np.testing.assert_array_equal(value, [0, 0, 2])
        np.testing.assert_array_equal(KERNELS["relu"].backward(np.ones(3), kept, [True])[0], [0, 0, 1])

    def test_sigmoid_follows_its_definition_and_does_not_overflow(self):
        value, _ = KERNELS["sigmoid"].forward([np.array([0.5, -1e5, 1e5])], {})
        np.testing.assert_allclose(value, [1 / (1 + math.exp(-0.5)), 0, 1])

    def test_power_raises_to_a_constant(self):
        value, kept = KERNELS["power"].forward([np.array([4.0, 0.25])], {"exponent": -1.5})
        np.testing.assert_allclose(value, [1 / 8, 8])
        np.testing.assert_allclose(KERNELS["power"].backward(np.ones(2), kept, [True])[0], [-1.5 / 32, -48])

    def test_linear_multiplies_by_the_transposed_weight(self):
        x, weight, bias = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]), np.array([0.5, 0.0])
        value, _ = KERNELS["linear"].forward([x, weight, bias], {})
        np.testing.assert_allclose(value, [[11.5, 17.0]])


def _loss(op, first, second):
    kind = np.int32 if op == "softmax_cross_entropy" else np.float64
    return KERNELS[op].forward([np.asarray(first, np.float64), np.asarray(second, kind)], {})[0]


def _node(wire):
    return next(node for node in job_for(wire).program.nodes if node.name == "y")


def _values(wire):
    job = job_for(wire)
    values = synthetic_batch(job.program, job.seed)
    values.update({p.name: job.initial(p.name).astype(np.float64) for p in job.program.parameters})
    return values


def _plain_convolution(node, values):
    x, weight = values["x"], values["weight"]
    value = np.zeros(node.shape)
    for n, o, row, column in itertools.product(*(range(size) for size in node.shape)):
        first = o // (len(weight) // node.attributes["groups"]) * weight.shape[1]
        for c, i, j in itertools.product(*(range(size) for size in weight.shape[1:])):
            place = _place(node, (row, column), (i, j))
            if _within(place, x):
                value[n, o, row, column] += x[(n, first + c, *place)] * weight[o, c, i, j]
    return value + values["bias"][:, None, None] if "bias" in values else value


def _plain_pool(node, x, combine):
    value = np.zeros(node.shape)
    for n, c, row, column in itertools.product(*(range(size) for size in node.shape)):
        within = itertools.product(*(range(size) for size in node.attributes["kernel"]))
        places = [_place(node, (row, column), position) for position in within]
        value[n, c, row, column] = combine([x[(n, c, *place)] for place in places if _within(place, x)])
    return value


def _place(node, window, position):
    """Where in the unpadded image a window's kernel position falls."""
    down, across = node.attributes["strides"]
    top, _, left, _ = node.attributes["padding"]
    return window[0] * down + position[0] - top, window[1] * across + position[1] - left


def _within(place, x):
    return 0 <= place[0] < x.shape[2] and 0 <= place[1] < x.shape[3]


if __name__ == "__main__":
    unittest.main()
