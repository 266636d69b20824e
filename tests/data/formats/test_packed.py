"""A packed file has the bytes that are promised where they are promised; any other is refused with its position."""

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.samples import about, contents, pixel_items, read, write

from netdyno.data.formats import packed
from netdyno.data.item import About
from netdyno.errors import NetdynoError

ITEMS = pixel_items(7)
FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(packed, tmp_path, ITEMS)
    return tmp_path


def _parts(path: Path) -> tuple[dict, bytes]:
    data = path.read_bytes()
    length = int.from_bytes(data[8:16], "little")
    return json.loads(data[16 : 16 + length]), data


def _with_header(path: Path, **changes) -> None:
    """The same file, its header changed but as long."""
    header, data = _parts(path)
    text = json.dumps({**header, **changes}).encode()
    path.write_bytes(data[:8] + len(text).to_bytes(8, "little") + text + data[16 + len(text) :])


def test_the_file_is_laid_out_as_described(root: Path) -> None:
    header, data = _parts(root / "train.packed")
    assert data[:8] == b"NDPACK01"
    places = {"images_at": 4096, "labels_at": 4096 + 7 * 60}
    assert header == {"count": 7, "classes": ["ant", "bee", "cat"], "shape": [5, 4, 3], "origin": None, **places}
    images = np.frombuffer(data, np.uint8, 7 * 60, 4096).reshape(7, 5, 4, 3)
    assert np.array_equal(images, np.stack([item.pixels for item in ITEMS]))
    assert np.frombuffer(data, "<i4", offset=4096 + 7 * 60).tolist() == [item.label for item in ITEMS]
    assert [path.name for path in root.iterdir()] == ["train.packed"]


def test_what_is_written_is_read_also_elsewhere(root: Path) -> None:
    assert list(packed.find(root)) == ["train"]
    source = pickle.loads(pickle.dumps(packed.open(root, "train")))  # noqa: S301
    assert source.about == about(ITEMS)
    assert contents([source.item(index) for index in range(7)]) == contents(ITEMS)


def test_a_header_of_many_classes_moves_the_images(tmp_path: Path) -> None:
    many = About(count=1, classes=tuple(f"class number {n}" for n in range(1000)), shape=(5, 4, 3))
    writer = packed.create(tmp_path, "test", many)
    writer.write(ITEMS[:1])
    writer.finish()
    source = packed.open(tmp_path, "test")
    assert source.about == many
    assert (source.images_at % 4096, source.images_at > 17_000) == (0, True)
    assert contents([source.item(0)]) == contents(ITEMS[:1])


@pytest.mark.parametrize("names", range(4040, 4110, 3))
def test_a_header_that_just_fits_does_not_overlap_the_images(tmp_path: Path, names: int) -> None:
    writer = packed.create(tmp_path, "train", About(count=1, classes=("x" * (names - 100), "y"), shape=(5, 4, 3)))
    writer.write(ITEMS[:1])
    writer.finish()
    assert contents([packed.open(tmp_path, "train").item(0)]) == contents(ITEMS[:1])


@FEW
@given(data=st.data(), written=st.integers(0, 7))
def test_writing_cut_at_any_byte_continues(tmp_path_factory, data, written: int) -> None:
    root = tmp_path_factory.mktemp("cut")
    writer = packed.create(root, "train", about(ITEMS))
    for begin in range(0, written, 2):
        writer.write(ITEMS[begin : min(begin + 2, written)])
    writer.close()
    for path in (root / "packed-train.partial").iterdir():
        os.truncate(path, data.draw(st.integers(0, path.stat().st_size)))
    assert packed.find(root) == []
    write(packed, root, ITEMS, batch=3)
    assert contents(read(packed, root)) == contents(ITEMS)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"count": 8}, "fitting places|a file of"),
        ({"count": -7}, "expected count, classes and shape"),
        ({"count": 10**15}, "fitting places"),
        ({"count": 7.0}, "expected count"),
        ({"count": "7"}, "expected count"),
        ({"shape": [5, 4]}, "expected count"),
        ({"shape": [5, 4, 0]}, "expected count"),
        ({"shape": [4, 5, 6]}, "fitting places"),
        ({"classes": []}, "expected count"),
        ({"classes": [1, 2, 3]}, "expected count"),
        ({"classes": ["ant"]}, "byte 4520: expected a label from 0 to 0, received 1"),
        ({"images_at": 0}, "fitting places"),
        ({"images_at": 4095}, "fitting places"),
        ({"images_at": "4096"}, "expected count"),
        ({"labels_at": 4096}, "fitting places"),
        ({"labels_at": None}, "expected count"),
    ],
)
def test_a_header_that_lies_is_refused(root: Path, changes: dict, words: str) -> None:
    _with_header(root / "train.packed", **changes)
    with pytest.raises(NetdynoError, match=words):
        packed.open(root, "train")


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"NDPACK02",
        b"NDPACK01",
        b"NDPACK01" + (2**63).to_bytes(8, "little"),
        b"NDPACK01" + (5).to_bytes(8, "little") + b"[1,2]",
        b"NDPACK01" + (5).to_bytes(8, "little") + b"\xff\xff\xff\xff\xff",
        b"NDPACK01" + (99_999).to_bytes(8, "little") + b"[" * 99_999,
    ],
)
def test_what_is_no_packed_file_is_refused(tmp_path: Path, start: bytes) -> None:
    (tmp_path / "train.packed").write_bytes(start)
    with pytest.raises(NetdynoError, match=r"train\.packed, byte \d+: expected"):
        packed.open(tmp_path, "train")


@FEW
@given(cut=st.integers(0, 4096 + 7 * 64 - 1))
def test_a_file_cut_anywhere_is_refused(tmp_path_factory, cut: int) -> None:
    root = tmp_path_factory.mktemp("cut")
    write(packed, root, ITEMS)
    os.truncate(root / "train.packed", cut)
    with pytest.raises(NetdynoError, match=r"train\.packed, byte \d+: expected"):
        packed.open(root, "train")


def test_bytes_behind_the_end_are_refused(root: Path) -> None:
    with (root / "train.packed").open("ab") as file:
        file.write(b"x")
    with pytest.raises(NetdynoError, match="expected a file of 4544 bytes, received 4545"):
        packed.open(root, "train")


@pytest.mark.parametrize("label", [-1, 3, 2**31 - 1])
def test_a_label_without_a_class_is_refused_with_its_position(root: Path, label: int) -> None:
    with (root / "train.packed").open("r+b") as file:
        file.seek(4096 + 7 * 60 + 4 * 5)
        file.write(label.to_bytes(4, "little", signed=True))
    with pytest.raises(NetdynoError, match=f"byte 4536: expected a label from 0 to 2, received {label}"):
        packed.open(root, "train")


def test_a_split_that_is_there_is_not_written_over(root: Path) -> None:
    with pytest.raises(NetdynoError, match=r"train\.packed: .*has it already"):
        packed.create(root, "train", about(ITEMS))
    assert packed.create(root, "test", about(ITEMS)).done == 0
