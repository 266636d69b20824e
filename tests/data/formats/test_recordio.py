"""Records with a mark, and their index."""

import os
import struct

import pytest
from tests.data.samples import RECORD_MARK, contents, encoded_items, most_memory, read, write

from netdyno.data.formats import recordio
from netdyno.errors import NetdynoError


def _part(data, flag=0, length=None):
    length = len(data) if length is None else length
    return RECORD_MARK + struct.pack("<I", flag << 29 | length) + data + bytes(-len(data) % 4)


def _image(label=1.0, labels=(), image=None):
    head = struct.pack("<IfQQ", len(labels), label, 3, 0) + struct.pack(f"<{len(labels)}f", *labels)
    return head + (encoded_items(1)[0].encoded if image is None else image)


def test_a_record_lies_as_the_format_has_it(tmp_path):
    (item,) = encoded_items(1)
    write(recordio.FORMAT, tmp_path, [item])
    data = struct.pack("<IfQQ", 0, item.label, 0, 0) + item.encoded
    assert RECORD_MARK not in data
    assert (tmp_path / "train.rec").read_bytes() == _part(data)
    assert (tmp_path / "train.idx").read_text() == "0\t0\n"


def test_marks_inside_an_image_split_its_record_where_they_could_be_taken_for_one(tmp_path):
    item = encoded_items(2)[1]
    assert item.encoded.count(RECORD_MARK) == 4
    write(recordio.FORMAT, tmp_path, [item])
    data = (tmp_path / "train.rec").read_bytes()
    aligned = [at for at in range(0, len(data), 4) if data[at : at + 4] == RECORD_MARK]
    flags = [struct.unpack_from("<I", data, at + 4)[0] >> 29 for at in aligned]
    assert flags == [1, 3]
    assert contents(read(recordio.FORMAT, tmp_path)) == contents([item])


def test_a_record_that_is_nothing_but_marks_comes_back():
    data = RECORD_MARK * 5
    item = encoded_items(1)[0]
    record = recordio._record(0, type(item)(name="", label=0, encoded=item.encoded + data))
    assert recordio._joined(record).endswith(data)


def test_the_index_gives_the_offset_of_every_record(tmp_path):
    write(recordio.FORMAT, tmp_path, encoded_items(7), batch=3)
    data = (tmp_path / "train.rec").read_bytes()
    lines = [line.split("\t") for line in (tmp_path / "train.idx").read_text().splitlines()]
    assert [int(number) for number, _ in lines] == list(range(7))
    for number, at in lines:
        assert data[int(at) : int(at) + 4] == RECORD_MARK
        assert struct.unpack_from("<Q", data, int(at) + 16)[0] == int(number)


def test_records_without_an_index_are_read(tmp_path):
    items = encoded_items(4)
    write(recordio.FORMAT, tmp_path, items)
    (tmp_path / "train.idx").unlink()
    assert contents(read(recordio.FORMAT, tmp_path)) == contents(items)


@pytest.mark.parametrize("text", ["0\t0\n", "0\t0\n1\t4\n2\t8\n", "0 0\n", "a\tb\n", "\x00"])
def test_an_index_that_does_not_fit_is_refused(text, tmp_path):
    write(recordio.FORMAT, tmp_path, encoded_items(3))
    (tmp_path / "train.idx").write_text(text)
    with pytest.raises(NetdynoError, match=r"train\.idx: expected"):
        recordio.FORMAT.open(tmp_path, "train")


def test_an_index_in_another_order_is_as_good(tmp_path):
    items = encoded_items(3)
    write(recordio.FORMAT, tmp_path, items)
    path = tmp_path / "train.idx"
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    assert contents(read(recordio.FORMAT, tmp_path)) == contents(items)


def test_a_label_that_follows_the_header_is_read(tmp_path):
    (tmp_path / "train.rec").write_bytes(_part(_image(labels=(2.0,))))
    (item,) = read(recordio.FORMAT, tmp_path)
    assert (item.label, item.name) == (2, "3")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\0" * 40, "expected the mark of a record"),
        (_part(_image(), length=2**28), "byte 0: expected a record of"),
        (_part(_image(), flag=2), "expected a record's part of kind 0 or 1, received 2"),
        (_part(_image(), flag=3), "received 3"),
        (_part(_image(), flag=7), "received 7"),
        (_part(_image(), flag=1), "received no last one"),
        (_part(_image(), flag=1) + _part(_image()), "expected a record's part of kind 2 or 3, received 0"),
        (_part(b"short"), "expected the 24 bytes before an image, received 5"),
        (_part(_image(labels=(1.0, 2.0))), "expected one label"),
        (_part(_image(label=0.5)), "expected one label, a whole number, received 0.5"),
        (_part(_image(label=float("nan"))), "received nan"),
        (_part(_image(label=-1)), "received -1"),
        (_part(_image(label=3e38)), "expected a label from 0 to"),
        (_part(_image(image=b"")), "expected a JPEG or PNG"),
        (_part(struct.pack("<IfQQ", 2**32 - 1, 0, 0, 0)), "expected one label"),
        (_part(_image())[:-1], "to the file's end"),
    ],
)
def test_a_damaged_record_is_refused(data, said, tmp_path):
    (tmp_path / "train.rec").write_bytes(data)
    with pytest.raises(NetdynoError, match=f"train.rec.*{said}|{said}.*train.rec|item 0 of train.*{said}"):
        read(recordio.FORMAT, tmp_path)


def test_more_classes_than_a_float_counts_are_refused(tmp_path):
    from netdyno.data.item import About

    with pytest.raises(NetdynoError, match="at most 16777216 classes"):
        recordio.FORMAT.create(tmp_path, "train", About(count=1, classes=("x",) * (2**24 + 1)))


def test_an_index_is_not_read_beyond_what_its_records_need(tmp_path):
    write(recordio.FORMAT, tmp_path, encoded_items(3))
    os.truncate(tmp_path / "train.idx", 4 * 2**30)
    with most_memory(2**25), pytest.raises(NetdynoError, match=r"train\.idx: expected at most 168 bytes"):
        recordio.FORMAT.open(tmp_path, "train")
