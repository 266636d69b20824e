"""The worker's small statistics."""

import unittest

from netdyno_worker.steady import is_steady, median, median_half_width


class SteadyTest(unittest.TestCase):
    def test_the_median_is_the_middle(self):
        self.assertEqual(median([3, 1, 2]), 2)
        self.assertEqual(median([4, 1, 2, 3]), 2.5)

    def test_one_slow_block_does_not_widen_the_interval(self):
        calm = [1.0] * 30
        self.assertEqual(median_half_width(calm), 0.0)
        self.assertEqual(median_half_width([*calm, 50.0]), 0.0)

    def test_few_values_say_nothing(self):
        self.assertEqual(median_half_width([1.0] * 5), float("inf"))

    def test_the_interval_is_between_the_ranks_of_the_binomial(self):
        values = list(range(1, 101))  # ranks 41 and 60 of 100 hold the median with 95 %
        self.assertAlmostEqual(median_half_width(values), (60 - 41) / 2.0 / 50.5)

    def test_a_trend_is_not_steady_and_noise_is(self):
        self.assertFalse(is_steady([1.0 - 0.02 * i for i in range(8)], 8, 0.02))
        self.assertTrue(is_steady([1.0, 1.1, 0.9, 1.05, 0.95, 1.1, 0.9, 1.0], 8, 0.02))

    def test_too_few_are_not_steady(self):
        self.assertFalse(is_steady([1.0] * 7, 8, 0.02))
