"""What replays make of sums and products in another precision."""

import unittest

import numpy as np

from netdyno_worker.oracle.rounding import EXACT, SMOOTH, Rounding

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


if __name__ == "__main__":
    unittest.main()
