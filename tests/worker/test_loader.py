"""Do batches come in their order, transformed as asked, whatever the threads do?"""

import os
import shutil
import tempfile
import threading
import time
import unittest

import numpy as np
from packing import numbered, pack
from sketch import Sketch

from netdyno_worker.contract import Unsupported
from netdyno_worker.feed.loader import Loader
from netdyno_worker.feed.packed import open_packed
from netdyno_worker.feed.sources import Batches, Shuffled
from netdyno_worker.feed.transforms import Transform
from netdyno_worker.program import read_program

PLAIN = {"mean": [0.0], "std": [1.0 / 255.0], "crop": None, "pad": 0, "flip": False}  # pixels keep their numbers


def program(batch, side=4, channels=1, classes=3):
    sketch = Sketch()
    sketch.input("images", [batch, channels, side, side], kind="normal")
    sketch.input("labels", [batch], 0, classes, "integers")
    return read_program(sketch.wire())


class WithFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.folder)

    def packed(self, count, **shape):
        return open_packed(pack(os.path.join(self.folder, "%d.packed" % count), *numbered(count, **shape)))

    def taken(self, batches, threads, count):
        """The images' numbers and the labels of so many batches."""
        loader = Loader(batches, threads)
        try:
            found = []
            for _ in range(count):
                batch = loader.take()
                found.append((np.rint(batch["images"][:, 0, 0, 0]).astype(int), batch["labels"].copy()))
        finally:
            loader.stop()
        return [np.concatenate([pair[part] for pair in found]) for part in (0, 1)]


class Order(WithFiles):
    def test_an_epoch_is_the_permutation_of_its_seed_and_the_next_follows_without_a_gap(self):
        numbers, labels = self.taken(Batches(self.packed(10), program(4), PLAIN, 7), 1, 5)
        expected = np.concatenate([np.random.RandomState(7 + epoch).permutation(10) for epoch in range(2)])
        np.testing.assert_array_equal(numbers, expected)
        np.testing.assert_array_equal(labels, expected % 3)

    def test_many_threads_give_the_same_batches_in_the_same_order(self):
        batches = Batches(self.packed(50), program(4), dict(PLAIN, flip=True), 3)
        one, many = self.taken(batches, 1, 40), self.taken(batches, 7, 40)
        np.testing.assert_array_equal(one, many)

    def test_without_a_seed_images_come_as_they_lie_and_begin_again_at_the_end(self):
        numbers, _ = self.taken(Batches(self.packed(6), program(4), PLAIN), 2, 2)
        np.testing.assert_array_equal(numbers, [0, 1, 2, 3, 4, 5, 0, 1])

    def test_a_place_far_away_is_found_without_the_way_there(self):
        np.testing.assert_array_equal(
            Shuffled(10, 1).indices(1000000 * 10 + 8, 4),
            list(np.random.RandomState(1000001).permutation(10)[8:])
            + list(np.random.RandomState(1000002).permutation(10)[:2]),
        )


class Inputs(WithFiles):
    def test_batches_are_what_the_inputs_want(self):
        loader = Loader(Batches(self.packed(6, channels=3), program(2, channels=3), _rule([0.0] * 3), 1), 1)
        batch = loader.take()
        loader.stop()
        self.assertEqual({name: (a.shape, a.dtype.name) for name, a in batch.items()},
                         {"images": ((2, 3, 4, 4), "float32"), "labels": ((2,), "int32")})  # fmt: skip

    def test_images_of_another_size_are_refused(self):
        for shape in ({"side": 5}, {"channels": 3}):
            with self.assertRaisesRegex(ValueError, "expected"):
                Batches(self.packed(6, **shape), program(2), PLAIN)

    def test_more_classes_than_the_network_has_are_refused(self):
        with self.assertRaisesRegex(ValueError, "at most 2 classes, received 3"):
            Batches(self.packed(6), program(2, classes=2), PLAIN)

    def test_a_network_of_other_inputs_is_unsupported(self):
        sketch = Sketch()
        sketch.input("x", [2, 16])
        with self.assertRaisesRegex(Unsupported, "one input of images and one of labels"):
            Batches(self.packed(6), read_program(sketch.wire()), PLAIN)


class Threads(WithFiles):
    def test_an_error_in_a_thread_reaches_who_takes_that_batch(self):
        batches = Batches(self.packed(6), program(2), PLAIN, 1)
        make = batches.make

        def fail_at_two(number, slot):
            if number == 2:
                raise OSError("the disk is gone")
            return make(number, slot)

        batches.make = fail_at_two
        loader = Loader(batches, 3)
        loader.take()
        loader.take()
        with self.assertRaisesRegex(OSError, "the disk is gone"):
            loader.take()
        loader.stop()

    def test_stopping_ends_every_thread_at_once_wherever_it_is(self):
        before = threading.active_count()
        for taken in (0, 1, 5):
            loader = Loader(Batches(self.packed(6), program(2), PLAIN, 1), 4)
            for _ in range(taken):
                loader.take()
            loader.stop()
            self.assertEqual(threading.active_count(), before)
        with self.assertRaisesRegex(RuntimeError, "stopped"):
            for _ in range(100):
                loader.take()

    def test_threads_work_ahead_only_as_far_as_there_is_room(self):
        batches, made = Batches(self.packed(6), program(2), PLAIN, 1), []
        make = batches.make
        batches.make = lambda number, slot: made.append(number) or make(number, slot)
        loader = Loader(batches, 2)
        deadline = time.time() + 10
        while len(made) < 5 and time.time() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        loader.stop()
        self.assertEqual(sorted(made), [0, 1, 2, 3, 4])

    def test_seconds_are_counted_by_stage(self):
        batches = Batches(self.packed(6), program(2), PLAIN, 1)

        def slow(number, slot):
            time.sleep(0.02)
            return 1.0, 2.0

        batches.make = slow
        loader = Loader(batches, 1)
        loader.take()
        loader.stop()
        seconds = loader.seconds()
        self.assertGreater(seconds["wait_s"], 0.01)
        self.assertEqual(seconds["transform_s"], 2 * seconds["read_s"])


class Transforms(unittest.TestCase):
    def test_each_channel_is_scaled_to_0_1_then_shifted_and_divided(self):
        rule = {"mean": [0.5, 0.25], "std": [0.5, 2.0], "crop": None, "pad": 0, "flip": False}
        pixels = np.random.RandomState(2).randint(0, 256, size=(3, 5, 4, 2)).astype(np.uint8)
        expected = (pixels / 255.0 - [0.5, 0.25]) / [0.5, 2.0]
        np.testing.assert_allclose(_applied(rule, pixels, (2, 5, 4)), expected.transpose(0, 3, 1, 2), atol=1e-6)

    def test_evaluation_crops_the_centre_and_flips_nothing(self):
        pixels = np.arange(36, dtype=np.uint8).reshape(1, 6, 6, 1)
        found = _applied(dict(PLAIN, crop=4, pad=2, flip=True), pixels, (1, 4, 4))
        np.testing.assert_allclose(found[0, 0], pixels[0, 1:5, 1:5, 0], atol=1e-4)

    def test_training_crops_windows_of_the_padded_image_wherever_they_fit(self):
        pixels = np.repeat(np.arange(1, 10, dtype=np.uint8).reshape(1, 3, 3, 1), 500, axis=0)
        found = _applied(dict(PLAIN, crop=3, pad=1), pixels, (1, 3, 3), np.random.RandomState(5))
        padded = np.pad(pixels[0, :, :, 0], 1, "constant")
        windows = {padded[t : t + 3, x : x + 3].tobytes() for t in range(3) for x in range(3)}
        self.assertEqual({np.rint(image[0]).astype(np.uint8).tobytes() for image in found}, windows)

    def test_about_half_of_the_training_images_are_mirrored(self):
        pixels = np.repeat(np.arange(4, dtype=np.uint8).reshape(1, 1, 4, 1), 1000, axis=0)
        found = np.rint(_applied(dict(PLAIN, flip=True), pixels, (1, 1, 4), np.random.RandomState(5)))
        mirrored = (found[:, 0, 0] == [3, 2, 1, 0]).all(axis=1)
        self.assertTrue(((found[:, 0, 0] == [0, 1, 2, 3]).all(axis=1) | mirrored).all())
        self.assertTrue(430 < mirrored.sum() < 570, mirrored.sum())

    def test_rules_that_do_not_fit_are_refused(self):
        for changes in ({"mean": [0.0, 0.0]}, {"std": [0.0]}, {"crop": 7}, {"pad": 1}, {"crop": 3}):
            with self.assertRaisesRegex(ValueError, "transforms: expected"):
                Transform(dict(PLAIN, **changes), (6, 6, 1), (1, 6, 6))


def _rule(mean):
    return dict(PLAIN, mean=mean, std=[1.0] * len(mean))


def _applied(rule, pixels, wanted, random=None):
    into = np.empty((len(pixels), *wanted), np.float32)
    Transform(rule, pixels.shape[1:], wanted).apply(pixels.copy(), into, random)
    return into


if __name__ == "__main__":
    unittest.main()
