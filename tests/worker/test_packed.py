"""Is a packed file read as it was written, and refused where it lies?"""

import os
import shutil
import struct
import tempfile
import unittest

import numpy as np
from packing import numbered, pack

from netdyno_worker.feed.packed import open_packed


class PackedFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "train.packed")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def test_images_labels_and_classes_come_back(self):
        images = np.random.RandomState(1).randint(0, 256, size=(5, 3, 4, 2))
        packed = open_packed(pack(self.path, images, [0, 1, 2, 1, 0]))
        np.testing.assert_array_equal(packed.images, images)
        np.testing.assert_array_equal(packed.labels, [0, 1, 2, 1, 0])
        self.assertEqual((packed.classes, packed.images.dtype, packed.labels.dtype), (["a", "b", "c"], "u1", "i4"))

    def test_another_file_is_refused_by_its_first_bytes(self):
        self._write(b"\x89PNG\r\n\x1a\n" + bytes(5000))
        self._expect_refused("the magic")

    def test_a_file_that_ends_in_its_first_bytes_is_refused(self):
        self._write(b"NDPACK01\x05")
        self._expect_refused("end of the file")

    def test_a_header_longer_than_the_file_is_refused_without_reading_it(self):
        self._write(b"NDPACK01" + struct.pack("<Q", 2**62) + b"{}")
        self._expect_refused("a length of %d" % 2**62)

    def test_a_header_that_is_no_json_is_refused(self):
        for text in (b"{", b"\xff\xfe", b"[" * 100000):
            self._write(b"NDPACK01" + struct.pack("<Q", len(text)) + text)
            self._expect_refused("JSON")

    def test_a_header_with_a_hole_is_refused(self):
        for text in (b"{}", b"[1]", b"3"):
            self._write(b"NDPACK01" + struct.pack("<Q", len(text)) + text)
            self._expect_refused("labels_at")

    def test_numbers_that_are_none_are_refused(self):
        for changes in ({"count": -1}, {"count": True}, {"count": 2.0}, {"images_at": "0"}, {"shape": [4, 4]}):
            pack(self.path, *numbered(6), **changes)
            self._expect_refused(next(iter(changes)).replace("images_at", "whole number"))

    def test_classes_without_names_are_refused(self):
        for classes in ([], [1, 2, 3]):
            pack(self.path, *numbered(6), classes=classes)
            self._expect_refused("names of the classes")

    def test_a_count_that_the_file_has_no_room_for_is_refused(self):
        for changes in ({"count": 10**15}, {"shape": [4000, 4000, 3]}, {"labels_at": 4097}, {"images_at": 100}):
            pack(self.path, *numbered(6), **changes)
            self._expect_refused("expected")

    def test_a_cut_or_longer_file_is_refused(self):
        pack(self.path, *numbered(6))
        with open(self.path, "rb") as file:
            whole = file.read()
        for wrong in (whole[:-1], whole + b"\0", whole[:3000]):
            self._write(wrong)
            self._expect_refused("%d bytes" % len(wrong))

    def test_a_label_beyond_the_classes_is_named_with_its_image(self):
        for label in (3, -1):
            pack(self.path, numbered(6)[0], [0, 1, 2, label, 1, 2])
            self._expect_refused("image 3: expected a label in 0..2, received %d" % label)

    def _write(self, content):
        with open(self.path, "wb") as file:
            file.write(content)

    def _expect_refused(self, words):
        with self.assertRaises(ValueError) as caught:
            open_packed(self.path)
        self.assertIn(self.path, str(caught.exception))
        self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
