"""IDX files are read as MNIST has them and as we write them; a header that lies is refused with its position."""

import gzip
import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.samples import about, contents, most_memory, pixel_items, read, write

from netdyno.data.formats import idx
from netdyno.data.item import About, Item
from netdyno.errors import NetdynoError

LABELS = bytes([3, 0, 9, 1])
PIXELS = np.random.RandomState(3).randint(0, 256, (4, 5, 6)).astype(np.uint8)
IMAGES = struct.pack(">IIII", 0x803, 4, 5, 6) + PIXELS.tobytes()
LABEL_FILE = struct.pack(">II", 0x801, 4) + LABELS


def _laid(root: Path, images: bytes = IMAGES, labels: bytes = LABEL_FILE, end: str = "") -> Path:
    pack = gzip.compress if end else bytes
    (root / f"train-images-idx3-ubyte{end}").write_bytes(pack(images))
    (root / f"train-labels-idx1-ubyte{end}").write_bytes(pack(labels))
    return root


@pytest.mark.parametrize("end", ["", ".gz"])
def test_published_files_are_read_plain_and_compressed(tmp_path: Path, end: str) -> None:
    root = _laid(tmp_path, end=end)
    assert list(idx.find(root)) == ["train"]
    source = pickle.loads(pickle.dumps(idx.open(root, "train")))  # noqa: S301
    assert source.about == About(count=4, classes=tuple("0123456789"), shape=(5, 6, 1))
    items = [source.item(index) for index in range(4)]
    assert bytes(item.label for item in items) == LABELS
    assert np.array_equal(np.stack([item.pixels for item in items]), PIXELS[..., None])
    assert items[3].name == "00000003"


def test_test_files_are_called_t10k(tmp_path: Path) -> None:
    (tmp_path / "t10k-images.idx3-ubyte").write_bytes(IMAGES)
    assert list(idx.find(tmp_path)) == []
    (tmp_path / "t10k-labels.idx1-ubyte").write_bytes(LABEL_FILE)
    assert list(idx.find(tmp_path)) == ["test"]
    assert idx.open(tmp_path, "test").item(2).label == 9


def test_written_files_are_those_that_are_published(tmp_path: Path) -> None:
    items = [Item(name="x", label=label, pixels=PIXELS[n][..., None]) for n, label in enumerate(LABELS)]
    writer = idx.create(tmp_path, "test", About(count=4, classes=tuple("0123456789"), shape=(5, 6, 1)))
    writer.write(items[:3])
    assert idx.find(tmp_path) == []
    writer.write(items[3:])
    writer.finish()
    assert (tmp_path / "t10k-images-idx3-ubyte").read_bytes() == IMAGES
    assert (tmp_path / "t10k-labels-idx1-ubyte").read_bytes() == LABEL_FILE


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(count=st.integers(1, 9), height=st.integers(1, 5), width=st.integers(1, 5), channels=st.sampled_from([1, 3]))
def test_what_is_written_is_read(tmp_path_factory, count: int, height: int, width: int, channels: int) -> None:
    root = tmp_path_factory.mktemp("idx")
    items = pixel_items(count, (height, width, channels))
    write(idx, root, items)
    assert contents(read(idx, root)) == contents(items)
    assert idx.open(root, "train").about == about(items)


def test_writing_continues_behind_a_crash(tmp_path: Path) -> None:
    items = pixel_items(10)
    writer = idx.create(tmp_path, "train", about(items))
    writer.write(items[:4])
    writer.close()
    assert idx.create(tmp_path, "train", about(items)).done == 4
    write(idx, tmp_path, items)
    assert contents(read(idx, tmp_path)) == contents(items)


@pytest.mark.parametrize(
    ("images", "labels", "words"),
    [
        (IMAGES[:-1], LABEL_FILE, "expected 136 bytes in all for 4×5×6, received 135"),
        (IMAGES + b"x", LABEL_FILE, "expected 136 bytes in all for 4×5×6, received 137"),
        (IMAGES[:10], LABEL_FILE, "byte 4: expected 12 bytes"),
        (b"", LABEL_FILE, "byte 0: expected 4 bytes"),
        (struct.pack(">IIII", 0x803, 2**32 - 1, 2**32 - 1, 2**32 - 1), LABEL_FILE, "received 16"),
        (struct.pack(">IIII", 0x803, 0, 5, 6), LABEL_FILE, "dimensions over 0"),
        (b"\0\0\x0d\x03" + IMAGES[4:], LABEL_FILE, "begins 00 00 08 03 or 00 00 08 04, received 00 00 0d 03"),
        (LABEL_FILE, LABEL_FILE, "received 00 00 08 01"),
        (IMAGES, IMAGES, "train-labels.*begins 00 00 08 01"),
        (IMAGES, struct.pack(">II", 0x801, 3) + LABELS[:3], "expected 4 labels, one for each image, received 3"),
        (IMAGES, LABEL_FILE[:-1], "train-labels.*expected 12 bytes in all for 4, received 11"),
    ],
)
@pytest.mark.parametrize("end", ["", ".gz"])
def test_files_that_lie_are_refused(tmp_path: Path, images: bytes, labels: bytes, words: str, end: str) -> None:
    with pytest.raises(NetdynoError, match=words.replace("byte 0:", "byte 0.*:").replace("byte 4:", "byte 4.*:")):
        idx.open(_laid(tmp_path, images, labels, end), "train")


@pytest.mark.parametrize("cut", [0, 1, 9, 20, -9, -8, -4, -1])
def test_a_cut_gzip_is_refused(tmp_path: Path, cut: int) -> None:
    path = _laid(tmp_path, end=".gz") / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(NetdynoError, match=r"train-images-idx3-ubyte\.gz"):
        idx.open(tmp_path, "train")


def test_a_gzip_with_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    path = _laid(tmp_path, end=".gz") / "train-images-idx3-ubyte.gz"
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(data)
    with pytest.raises(NetdynoError, match="incorrect data check"):
        idx.open(tmp_path, "train")


def test_a_gzip_that_unpacks_without_end_is_refused_where_its_header_ends_it(tmp_path: Path) -> None:
    _laid(tmp_path, end=".gz")
    with gzip.open(tmp_path / "train-images-idx3-ubyte.gz", "wb", compresslevel=1) as file:
        file.write(IMAGES)
        for _ in range(2**9):
            file.write(bytes(2**20))
    with most_memory(2**25), pytest.raises(NetdynoError, match=r"expected 136 bytes in all .*received 137") as error:
        idx.open(tmp_path, "train")
    assert "gunzip" not in str(error.value)


def test_a_gzip_whose_header_announces_more_than_fits_in_memory_is_to_be_unpacked(tmp_path: Path) -> None:
    head = struct.pack(">IIII", 0x803, 10**6, 100, 100)
    noise = np.random.RandomState(1).bytes(2**21)
    with most_memory(2**25), pytest.raises(NetdynoError, match=r"a header that announces more.*gunzip"):
        idx.open(_laid(tmp_path, head + noise, end=".gz"), "train")


def test_a_million_labels_are_checked_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdyno.data.formats.arrays.LABELS_AT_ONCE", 3)
    monkeypatch.setattr(idx, "LABELS_AT_ONCE", 3)
    write(idx, tmp_path, pixel_items(10))
    assert idx.open(tmp_path, "train").about.count == 10
    path = tmp_path / "train-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-2] + b"\x07\x00")
    with pytest.raises(NetdynoError, match=r"byte 16: expected a label from 0 to 2, received 7"):
        idx.open(tmp_path, "train")


def test_a_label_without_a_class_is_refused_with_its_position(tmp_path: Path) -> None:
    write(idx, tmp_path, pixel_items(4))
    path = tmp_path / "train-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-2] + b"\x07\x00")
    with pytest.raises(NetdynoError, match="byte 10: expected a label from 0 to 2, received 7"):
        idx.open(tmp_path, "train")


def test_sides_that_were_swapped_are_refused_where_we_wrote_them(tmp_path: Path) -> None:
    write(idx, tmp_path, pixel_items(4))
    path = tmp_path / "train-images-idx4-ubyte"
    data = path.read_bytes()
    path.write_bytes(data[:8] + data[12:16] + data[8:12] + data[16:])
    with pytest.raises(NetdynoError, match=r"byte 8: expected images of \(5, 4, 3\) .* received \(4, 5, 3\)"):
        idx.open(tmp_path, "train")


def test_what_idx_cannot_hold_is_refused_before_it_is_written(tmp_path: Path) -> None:
    many = tuple(map(str, range(257)))
    for wrong, words in (
        (About(count=1, classes=many, shape=(1, 1, 1)), "at most 256 classes"),
        (About(count=1, classes=("a",)), "images of one shape"),
        (About(count=0, classes=("a",), shape=(1, 1, 1)), "at least one item"),
        (About(count=1, classes=("a",), shape=(1, 1, 2)), "1 or 3 channels"),
    ):
        with pytest.raises(NetdynoError, match=words):
            idx.create(tmp_path, "train", wrong)
    assert list(tmp_path.iterdir()) == []


def test_items_that_do_not_fit_are_refused_by_name(tmp_path: Path) -> None:
    writer = idx.create(tmp_path, "train", about(pixel_items(2)))
    bad = Item(name="odd", label=0, pixels=np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(NetdynoError, match="image odd: expected 5×4×3 pixels, received 4×4×3"):
        writer.write([bad])
    with pytest.raises(NetdynoError, match=r"item 0 \('odd'\): expected a label from 0 to 2, received 3"):
        writer.write([Item(name="odd", label=3, pixels=np.zeros((5, 4, 3), np.uint8))])
    with pytest.raises(NetdynoError, match="expected 2 items in all, received 3"):
        writer.write(pixel_items(3))
    with pytest.raises(NetdynoError, match="expected 2 items to be written before the end, received 0"):
        writer.finish()
    assert writer.done == 0


def test_an_item_that_is_not_there_is_refused(tmp_path: Path) -> None:
    source = idx.open(_laid(tmp_path), "train")
    for index in (-1, 4):
        with pytest.raises(NetdynoError, match="an item from 0 to 3"):
            source.item(index)


def test_a_folder_without_the_split_is_told_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(NetdynoError, match=r"expected a file t10k-images-idx3-ubyte or the same with \.gz"):
        idx.open(tmp_path, "test")


def test_zeros_behind_a_gzip_are_not_read_to_their_end_and_its_streams_are_joined(tmp_path: Path) -> None:
    path = _laid(tmp_path, end=".gz") / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(IMAGES[:50]) + gzip.compress(IMAGES[50:]) + bytes(2**17))
    assert np.array_equal(idx.open(tmp_path, "train").item(3).pixels[:, :, 0], PIXELS[3])
    os.truncate(path, 2**36)
    with pytest.raises(NetdynoError, match="over 1048576 zeros behind its content"):
        idx.open(tmp_path, "train")
