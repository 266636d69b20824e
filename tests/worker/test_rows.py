"""Do rows of arrays reach the inputs that they are named for, in order, and other inputs what is drawn for them?"""

import os
import shutil
import tempfile
import unittest

import numpy as np
from packing import numbered, pack
from sketch import Sketch

from netdyno_worker.contract import Unsupported
from netdyno_worker.feed.sources import RowBatches, open_source
from netdyno_worker.program import read_program


def program(batch=4, length=3, words=50, code=False):
    sketch = Sketch()
    sketch.input("tokens", [batch, length], 0, words, "integers")
    if code:
        sketch.input("code", [batch, 2], kind="normal")
    return read_program(sketch.wire())


class Rows(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "train.npz")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def opened(self, wanted, seed=None, **arrays):
        np.savez(self.path, **arrays)
        return open_source(self.path, wanted, None, seed)

    def made(self, source, number):
        room = source.room()
        source.make(number, room)
        return room

    def test_without_a_seed_rows_come_in_turn_and_with_one_shuffled(self):
        tokens = np.arange(30, dtype=np.int32).reshape(10, 3)
        source = self.opened(program(), tokens=tokens)
        self.assertIsInstance(source, RowBatches)
        self.assertEqual((source.size, source.count, source.labels_name), (4, 10, None))
        np.testing.assert_array_equal(self.made(source, 0)["tokens"], tokens[:4])
        np.testing.assert_array_equal(self.made(source, 2)["tokens"], tokens[[8, 9, 0, 1]])
        order = np.random.RandomState(7).permutation(10)
        np.testing.assert_array_equal(
            self.made(self.opened(program(), 7, tokens=tokens), 1)["tokens"], tokens[order[4:8]]
        )

    def test_an_input_that_is_no_array_is_drawn_for_each_batch_anew(self):
        source = self.opened(program(code=True), 3, tokens=np.zeros((8, 3), np.int32))
        first, second, again = (self.made(source, number)["code"] for number in (0, 1, 0))
        self.assertEqual(first.shape, (4, 2))
        self.assertFalse((first == second).any())
        np.testing.assert_array_equal(first, again)

    def test_a_number_that_the_network_does_not_know_is_refused(self):
        with self.assertRaisesRegex(ValueError, "tokens: expected numbers below 50, received 50"):
            self.opened(program(), tokens=np.full((8, 3), 50, np.int32))

    def test_rows_of_another_length_are_refused(self):
        with self.assertRaisesRegex(ValueError, r"tokens: expected rows of \[3\], received \[5\]"):
            self.opened(program(), tokens=np.zeros((8, 5), np.int32))

    def test_integers_that_no_array_has_are_refused(self):
        with self.assertRaisesRegex(ValueError, "expected rows for tokens, received words"):
            self.opened(program(), words=np.zeros((8, 3), np.int32))

    def test_what_is_no_file_of_arrays_is_refused(self):
        for content in (b"", b"PK\x03\x04 cut off", b"text"):
            with open(self.path, "wb") as file:
                file.write(content)
            with self.assertRaisesRegex(ValueError, "expected arrays of integers"):
                open_source(self.path, program(), None)

    def test_arrays_of_other_lengths_or_types_are_refused(self):
        for arrays in (
            {"a": np.zeros(3, np.int32), "b": np.zeros(4, np.int32)},
            {"a": np.zeros(3, np.float32)},
            {"a": np.zeros((0, 3), np.int32)},
        ):
            with self.assertRaisesRegex(ValueError, "expected as many rows of integers in each array"):
                self.opened(program(), **arrays)


class Images(unittest.TestCase):
    """A network that makes images needs no labels, and its codes are drawn."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.path = pack(os.path.join(self.folder, "train.packed"), *numbered(6))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def opened(self, *more):
        sketch = Sketch()
        sketch.input("images", [2, 1, 4, 4], kind="normal")
        for name, shape, options in more:
            sketch.input(name, shape, **options)
        rule = {"mean": [0.0], "std": [1.0], "crop": None, "pad": 0, "flip": False}
        return open_source(self.path, read_program(sketch.wire()), rule, 1)

    def test_images_come_with_a_code_and_without_labels(self):
        source = self.opened(("code", [2, 5], {"kind": "normal"}))
        room = source.room()
        source.make(0, room)
        self.assertEqual(sorted(room), ["code", "images"])
        self.assertIsNone(source.labels_name)

    def test_two_inputs_of_labels_are_unsupported(self):
        integers = {"low": 0, "high": 3, "kind": "integers"}
        with self.assertRaises(Unsupported):
            self.opened(("labels", [2], integers), ("others", [2], integers))
