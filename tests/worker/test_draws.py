"""Weights and batches are the same bits under every Python and NumPy."""

import hashlib
import unittest
import zlib

import numpy as np

from netdyno_worker.feed.draws import CHUNK, draw
from netdyno_worker.feed.weights import Weights
from netdyno_worker.program import Parameter, Program

UNIFORM = {"kind": "uniform", "low": -0.5, "high": 0.5}
NORMAL = {"kind": "normal", "low": 0.0, "high": 1.0}
LABELS = {"kind": "integers", "low": 0, "high": 10}


def fingerprint(array):
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


class DrawsTest(unittest.TestCase):
    def test_a_draw_has_these_bits_everywhere(self):
        self.assertEqual(fingerprint(draw(UNIFORM, "conv1.weight", (6, 1, 5, 5), 1)), UNIFORM_BITS)
        self.assertEqual(fingerprint(draw(NORMAL, "input/images", (4, 1, 8, 8), 1)), NORMAL_BITS)
        self.assertEqual(fingerprint(draw(LABELS, "input/labels", (64,), 1)), LABEL_BITS)

    def test_a_band_is_one_near_the_diagonal(self):
        band = draw({"kind": "band", "low": -1.0, "high": 2.0}, "any", (3, 5, 1, 1), 1)
        self.assertEqual((band.dtype, band.shape), (np.float32, (3, 5, 1, 1)))
        expected = [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [0, 1, 1, 1, 1]]
        self.assertEqual(band[:, :, 0, 0].tolist(), expected)

    def test_a_causal_draw_is_high_up_to_the_diagonal(self):
        mask = draw({"kind": "causal", "low": -1e9, "high": 0.0}, "any", (2, 3, 4), 1)
        self.assertEqual((mask.dtype, mask.shape), (np.float32, (2, 3, 4)))
        expected = [[0, -1e9, -1e9, -1e9], [0, 0, -1e9, -1e9], [0, 0, 0, -1e9]]
        self.assertEqual(mask.tolist(), [expected, expected])

    def test_a_long_draw_is_the_same_as_one_made_at_once(self):
        state = np.random.RandomState(zlib.crc32(b"long") + 1)
        at_once = state.uniform(-0.5, 0.5, size=(3, CHUNK + 1)).astype(np.float32)
        self.assertTrue(np.array_equal(draw(UNIFORM, "long", (3, CHUNK + 1), 1), at_once))
        state = np.random.RandomState(zlib.crc32(b"long") + 1)
        at_once = state.normal(0.0, 1.0, size=(2 * CHUNK + 1,)).astype(np.float32)
        self.assertTrue(np.array_equal(draw(NORMAL, "long", (2 * CHUNK + 1,), 1), at_once))

    def test_values_lie_where_the_rule_says(self):
        uniform = draw(UNIFORM, "w", (1000,), 3)
        self.assertTrue(-0.5 <= uniform.min() < -0.4 and 0.4 < uniform.max() < 0.5)
        self.assertEqual(set(draw(LABELS, "l", (1000,), 3)), set(range(10)))
        self.assertAlmostEqual(float(draw(NORMAL, "n", (10000,), 3).std()), 1.0, places=1)

    def test_names_and_seeds_give_different_values(self):
        first = draw(UNIFORM, "a", (10,), 0)
        self.assertFalse(np.array_equal(first, draw(UNIFORM, "b", (10,), 0)))
        self.assertFalse(np.array_equal(first, draw(UNIFORM, "a", (10,), 1)))
        self.assertTrue(np.array_equal(first, draw(UNIFORM, "a", (10,), 0)))

    def test_a_constant_is_a_uniform_draw_of_no_width(self):
        ones = draw({"kind": "uniform", "low": 1.0, "high": 1.0}, "scale", (3,), 0)
        self.assertEqual(ones.tolist(), [1.0, 1.0, 1.0])

    def test_an_unknown_kind_is_refused(self):
        with self.assertRaises(ValueError):
            draw({"kind": "magic", "low": 0, "high": 1}, "w", (3,), 0)

    def test_the_digest_does_not_depend_on_the_order_of_asking(self):
        one, other = weights(), weights()
        one.initial("a")
        one.initial("b")
        other.initial("b")
        self.assertEqual(one.digest(), other.digest())
        self.assertNotEqual(one.digest(), weights(seed=2).digest())


def weights(seed=1):
    parameters = [Parameter(name, (4,), UNIFORM, True, "plain") for name in "ab"]
    return Weights(Program([], parameters, [], [], [], [], {}), seed)


UNIFORM_BITS = "bb4d496d4ceb7f18"
NORMAL_BITS = "1774e321d223a430"
LABEL_BITS = "6f4cf13b848b762b"

if __name__ == "__main__":
    unittest.main()
