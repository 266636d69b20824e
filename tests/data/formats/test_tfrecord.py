"""Checksummed records of Examples."""

import struct

import google_crc32c
import pytest
from tests.data.samples import about, contents, encoded_items, read, write

from netdyno.data.codecs.protobuf import bytes_field, number_field, varint
from netdyno.data.formats import tfrecord
from netdyno.errors import NetdynoError

FILE = "train-00000-of-00001"


def _masked(data):
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) % 2**32)


def _record(data):
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _example(**features):
    entries = [
        bytes_field(1, bytes_field(1, b"image/" + name.replace("_", "/").encode()), bytes_field(2, value))
        for name, value in features.items()
    ]
    return bytes_field(1, *entries)


def _image():
    return bytes_field(1, bytes_field(1, encoded_items(1)[0].encoded))


def test_every_flipped_byte_is_noticed(tmp_path):
    write(tfrecord.FORMAT, tmp_path, encoded_items(2, "PNG"))
    path = tmp_path / FILE
    data = bytearray(path.read_bytes())
    for at in range(len(data)):
        data[at] ^= 0x40
        path.write_bytes(data)
        with pytest.raises(NetdynoError, match=r"train-00000-of-00001, byte \d+: expected"):
            read(tfrecord.FORMAT, tmp_path)
        data[at] ^= 0x40


def test_a_record_lies_as_the_format_has_it(tmp_path):
    (item,) = encoded_items(1)
    write(tfrecord.FORMAT, tmp_path, [item])
    data = (tmp_path / FILE).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    assert data == _record(data[12 : 12 + length])
    for text in (b"image/encoded", b"image/class/label", b"image/filename", b"image/format", b"JPEG"):
        assert text in data


def test_shards_hold_a_thousand_items_and_tell_how_many_there_are(tmp_path):
    items = encoded_items(3, "PNG") * 700
    write(tfrecord.FORMAT, tmp_path, items, batch=640)
    shards = [f"train-{number:05d}-of-00003" for number in range(3)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*shards, "train.tfrecord.json"]
    assert contents(read(tfrecord.FORMAT, tmp_path)) == contents(items)


def test_a_missing_shard_is_named(tmp_path):
    write(tfrecord.FORMAT, tmp_path, encoded_items(2, "PNG") * 501, batch=501)
    (tmp_path / "train-00000-of-00002").unlink()
    with pytest.raises(NetdynoError, match="train-00000-of-00002 is missing"):
        tfrecord.FORMAT.open(tmp_path, "train")


def test_a_shard_of_another_writing_is_named(tmp_path):
    write(tfrecord.FORMAT, tmp_path, encoded_items(2))
    (tmp_path / "train-00001-of-00002").write_bytes(b"")
    with pytest.raises(NetdynoError, match="train-00001-of-00002 does not belong"):
        tfrecord.FORMAT.open(tmp_path, "train")


@pytest.mark.parametrize("label", [varint(2), varint(0)])
@pytest.mark.parametrize("packed", [True, False])
def test_labels_are_read_packed_or_not(label, packed, tmp_path):
    values = bytes_field(1, label) if packed else number_field(1, label[0])
    (tmp_path / FILE).write_bytes(_record(_example(encoded=_image(), class_label=bytes_field(3, values))))
    (item,) = read(tfrecord.FORMAT, tmp_path)
    assert (item.label, item.name) == (label[0], "0")


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ({"encoded": _image()}, "expected a feature image/class/label, received image/encoded"),
        ({"class_label": bytes_field(3, bytes_field(1, b"\0"))}, "expected a feature image/encoded"),
        ({"encoded": bytes_field(3, bytes_field(1, b"\0")), "class_label": b""}, "expected one byte string"),
        ({"encoded": _image(), "class_label": bytes_field(1, bytes_field(1, b"cat"))}, "expected one whole number"),
        ({"encoded": _image(), "class_label": bytes_field(3, bytes_field(1, b"\1\2"))}, "one whole number .* 2"),
        ({"encoded": _image(), "class_label": bytes_field(3, number_field(1, -1))}, "received -1"),
        ({"encoded": _image(), "class_label": bytes_field(3, number_field(1, 2**40))}, "received 1099511627776"),
        ({"encoded": bytes_field(1, bytes_field(1, b"BMP"))}, "cannot be decoded"),
        ({"encoded": bytes_field(1, bytes_field(1, b""))}, "expected a JPEG or PNG"),
    ],
)
def test_an_example_that_is_no_labelled_image_is_refused(features, said, tmp_path):
    (tmp_path / FILE).write_bytes(_record(_example(**features)))
    with pytest.raises(NetdynoError, match=said):
        read(tfrecord.FORMAT, tmp_path)


def test_a_length_that_lies_allocates_nothing(tmp_path):
    length = struct.pack("<Q", 2**62)
    (tmp_path / FILE).write_bytes(length + _masked(length) + b"data")
    with pytest.raises(NetdynoError, match="received 16 to the file's end"):
        tfrecord.FORMAT.open(tmp_path, "train")


def test_a_record_that_is_no_example_is_refused(tmp_path):
    (tmp_path / FILE).write_bytes(_record(b"\xff" * 30))
    with pytest.raises(NetdynoError, match="record at byte 0: expected a number"):
        tfrecord.FORMAT.open(tmp_path, "train")


def test_a_label_of_many_bytes_comes_back(tmp_path):
    (item,) = encoded_items(1)
    many = type(about([item]))(count=1, classes=tuple(map(str, range(21_842))))
    writer = tfrecord.FORMAT.create(tmp_path, "train", many)
    writer.write([type(item)(name=item.name, label=21_841, encoded=item.encoded)])
    writer.finish()
    assert read(tfrecord.FORMAT, tmp_path)[0].label == 21_841
