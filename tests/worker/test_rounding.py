"""What replays make of sums and products in another precision."""

import unittest

import numpy as np

from netdyno_worker.oracle.rounding import EVERY_STEP, EXACT, LATER_STEPS, SMOOTH, Rounding
from netdyno_worker.program import Node

UNIT = 2.0**-24


class RoundingTest(unittest.TestCase):
    def setUp(self):
        self.rounding = Rounding("float32", SMOOTH)

    def error_of_sum(self, array, axes=(0, 2, 3)):
        return np.abs(self.rounding.sum(array, axes) - array.sum(axis=axes))

    def test_a_sum_of_few_channels_is_never_lucky(self):
        array = np.ones((2, 2, 8, 8))
        errors = [self.error_of_sum(array) / 128 for _ in range(50)]
        self.assertGreater(np.min(errors), UNIT)
        self.assertLess(np.max(errors), 128 * UNIT)

    def test_a_sum_rounds_as_what_was_added_up_until_then_also_where_items_cancel(self):
        same = np.ones((2, 3, 8, 8))
        cancelling = same * np.array([1.0, -1.0]).reshape(2, 1, 1, 1)
        self.assertEqual(np.abs(cancelling.sum(axis=(0, 2, 3))).max(), 0.0)
        self.assertGreater(self.error_of_sum(cancelling).min(), 0.3 * self.error_of_sum(same).min())

    def test_a_sum_over_another_axis_keeps_its_shape(self):
        self.assertEqual(self.error_of_sum(np.ones((4, 6)), (1,)).shape, (4,))

    def test_a_product_rounds_as_its_terms_also_where_they_cancel(self):
        first, second = np.ones((4, 64)), np.tile([1.0, -1.0], 32).reshape(64, 1)
        product = np.dot(first, second)
        self.assertEqual(np.abs(product).max(), 0.0)
        noise = self.rounding.product(product, 64, first, second)
        self.assertGreater(np.abs(noise).max(), UNIT)
        self.assertLess(np.abs(noise).max(), 64 * UNIT)

    def test_the_oracle_itself_adds_nothing(self):
        array = np.ones((2, 3, 4, 4))
        self.assertEqual(EXACT.sum(array, (0, 2, 3)).tolist(), [32.0] * 3)
        self.assertIs(EXACT.product(array, 64, array), array)


class KinksTest(unittest.TestCase):
    node = Node("relu1", "relu", ["x"], [64], "plain", {})

    def chosen(self, number, step):
        """Which values near zero a replay takes to the other side; None if it takes none."""
        flips = Rounding("float32", number, [{"x": 1e-8}, {"x": 1e-8}]).flips(self.node, step)
        return None if flips is None else flips[1]((64,))

    def test_the_replays_of_a_pair_take_opposite_halves(self):
        for first, second in (EVERY_STEP, LATER_STEPS):
            one, other = self.chosen(first, 1), self.chosen(second, 1)
            self.assertTrue(0 < one.sum() < 64)
            self.assertEqual((one ^ other).sum(), 64)

    def test_a_pair_leaves_the_first_step_alone_so_that_the_second_begins_where_it_should(self):
        self.assertEqual([self.chosen(number, 0) for number in (*LATER_STEPS, SMOOTH)], [None] * 3)
        self.assertIsNone(self.chosen(SMOOTH, 1))
        self.assertIsNotNone(self.chosen(EVERY_STEP[0], 0))

    def test_an_optimizer_that_moves_by_the_sign_sees_gradients_near_zero_on_both_sides(self):
        gradient = np.full(64, 1e-9)
        turned = [Rounding("float32", n, [{"g": 1e-9}, {"g": 1e-9}]).gradient("g", gradient, 1) for n in LATER_STEPS]
        self.assertEqual(np.abs(turned[0] + turned[1]).max(), 0.0)
        untouched = Rounding("float32", LATER_STEPS[0], [{"g": 1e-9}] * 2).gradient("g", gradient, 0)
        self.assertIs(untouched, gradient)


if __name__ == "__main__":
    unittest.main()
