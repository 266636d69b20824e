"""CIFAR's binary files and its pickles are read; what would execute something is refused by name, and does not."""

import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data import pickles
from tests.data.samples import about, contents, pixel_items, read, write

from netdyno.data.formats import cifar, cifar_pickle
from netdyno.data.formats.registry import format_to_write
from netdyno.data.item import About, Item
from netdyno.errors import NetdynoError

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _records(seed: int, labels: list[int]) -> bytes:
    return b"".join(
        bytes([label]) + row.tobytes() for label, row in zip(labels, pickles.planes(seed, len(labels)), strict=True)
    )


def _published(root: Path) -> Path:
    """Two batches to train with (the first one full), one to test with, names of the classes."""
    (root / "data_batch_1.bin").write_bytes(_records(0, [0, 1] * 5000))
    (root / "data_batch_2.bin").write_bytes(_records(1, [2, 1, 0]))
    (root / "test_batch.bin").write_bytes(_records(2, [1, 1]))
    (root / "batches.meta.txt").write_text("airplane\nautomobile\nbird\n\n")
    return root


def test_published_files_are_read_with_colours_last(tmp_path: Path) -> None:
    root = _published(tmp_path)
    assert list(cifar.find(root)) == ["train", "test"]
    source = pickle.loads(pickle.dumps(cifar.open(root, "train")))  # noqa: S301
    assert source.about == About(count=10_003, classes=("airplane", "automobile", "bird"), shape=(32, 32, 3))
    item = source.item(10_001)
    assert (item.label, item.name) == (1, "00010001")
    assert np.array_equal(item.pixels.transpose(2, 0, 1).ravel(), pickles.planes(1, 3)[1])
    assert source.item(9_999).label == 1
    assert cifar.open(root, "test").about.count == 2


def test_items_are_written_as_published_10_000_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar, "ITEMS_PER_FILE", 3)
    items = [Item(name="", label=n % 3, pixels=_image(n)) for n in range(7)]
    write(cifar, tmp_path, items, batch=5)
    rows = [bytes([n % 3]) + pickles.planes(n, 1).tobytes() for n in range(7)]
    for number in range(3):
        assert (tmp_path / f"data_batch_{number + 1}.bin").read_bytes() == b"".join(rows[3 * number : 3 * number + 3])
    assert (tmp_path / "batches.meta.txt").read_text() == "ant\nbee\ncat\n"
    assert contents(read(cifar, tmp_path)) == contents(items)


def _image(seed: int) -> np.ndarray:
    return pickles.planes(seed, 1).reshape(3, 32, 32).transpose(1, 2, 0)


@FEW
@given(count=st.integers(1, 9), height=st.integers(1, 5), width=st.integers(1, 5), channels=st.sampled_from([1, 3]))
def test_images_of_any_shape_are_written_and_read(tmp_path_factory, count, height, width, channels) -> None:
    root = tmp_path_factory.mktemp("cifar")
    items = pixel_items(count, (height, width, channels))
    write(cifar, root, items)
    assert contents(read(cifar, root)) == contents(items)
    assert cifar.open(root, "train").about == about(items)


def test_writing_continues_in_the_middle_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar, "ITEMS_PER_FILE", 3)
    items = pixel_items(10)
    writer = cifar.create(tmp_path, "train", about(items))
    writer.write(items[:5])
    writer.close()
    with (tmp_path / "cifar-train.partial" / "data_batch_2.bin").open("ab") as file:
        file.write(b"torn")
    assert cifar.find(tmp_path) == []
    write(cifar, tmp_path, items)
    assert contents(read(cifar, tmp_path)) == contents(items)


def _cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda root: _cut(root / "data_batch_2.bin", -1), r"data_batch_2\.bin, byte 6146: expected items of 3073"),
        (lambda root: _cut(root / "data_batch_1.bin", 3073), "expected 10000 items in all files but the last"),
        (lambda root: _cut(root / "data_batch_2.bin", 0), r"data_batch_2\.bin, byte 0: expected items"),
        (lambda root: (root / "data_batch_1.bin").unlink(), r"expected a file data_batch_1\.bin"),
        (
            lambda root: (root / "batches.meta.txt").write_text("a\nb\n"),
            r"data_batch_2\.bin, byte 0: expected a label from 0 to 1, received 2",
        ),
        (lambda root: (root / "batches.meta.txt").write_bytes(b"a\n\xff\n"), r"batches\.meta\.txt, byte 2"),
    ],
)
def test_spoilt_files_are_refused_with_their_position(tmp_path: Path, spoil, words: str) -> None:
    spoil(_published(tmp_path))
    with pytest.raises(NetdynoError, match=words):
        cifar.open(tmp_path, "train")


def test_a_file_that_lost_whole_items_is_refused(tmp_path: Path) -> None:
    write(cifar, tmp_path, pixel_items(5))
    _cut(tmp_path / "data_batch_1.bin", 4 * 61)
    with pytest.raises(NetdynoError, match="expected 5 items in all files, received 4"):
        cifar.open(tmp_path, "train")


def test_more_classes_than_a_byte_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NetdynoError, match="at most 256 classes"):
        cifar.create(tmp_path, "train", About(count=1, classes=tuple(map(str, range(257))), shape=(1, 1, 1)))


@pytest.fixture(params=["loose", "in a folder", "in the archive"])
def pickled(request, tmp_path: Path) -> Path:
    _lay(tmp_path, pickles.archive_files(), request.param)
    return tmp_path


def _lay(root: Path, files: dict[str, bytes], how: str = "loose") -> Path:
    if how == "in the archive":
        (root / "cifar-10-python.tar.gz").write_bytes(pickles.tar_gz(files))
        return root
    folder = root / "cifar-10-batches-py" if how == "in a folder" else root
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return root


def test_pickles_are_read_loose_and_packed(pickled: Path) -> None:
    assert list(cifar_pickle.find(pickled)) == ["train", "test"]
    source = pickle.loads(pickle.dumps(cifar_pickle.open(pickled, "train")))  # noqa: S301
    assert source.about == About(count=20, classes=pickles.CLASSES, shape=(32, 32, 3))
    item = source.item(9)
    assert (item.name, item.label) == ("picture_2_1.png", 0)
    assert np.array_equal(item.pixels.transpose(2, 0, 1).ravel(), pickles.planes(2, 4)[1])
    assert cifar_pickle.open(pickled, "test").item(3).label == 2


@pytest.mark.parametrize("protocol", [3, 4])
def test_pickles_of_python_3_are_read(tmp_path: Path, protocol: int) -> None:
    batch = {"data": pickles.planes(5, 4), "labels": [0, 1, 2, 0]}
    files = {**pickles.archive_files(), "test_batch": pickle.dumps(batch, protocol)}
    source = cifar_pickle.open(_lay(tmp_path, files), "test")
    assert np.array_equal(source.item(2).pixels.transpose(2, 0, 1).ravel(), batch["data"][2])
    assert source.item(2).name == "00000002"


class _Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def _hostile(path: Path) -> list[bytes]:
    """Each would make a file, with the unpickler of the standard library."""
    command = f"touch {path}".encode()
    return [
        *(pickle.dumps({"data": _Touch(path)}, protocol) for protocol in range(6)),
        b"cos\nsystem\n(S'" + command + b"'\ntR.",
        b"(S'" + command + b"'\nios\nsystem\n.",
        b"(cos\nsystem\nS'" + command + b"'\no.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c" + bytes([len(command)]) + command + b"\x85R.",
        b"cnumpy.core.multiarray\n_reconstruct\n}S'__code__'\nS'x'\nsb.",
    ]


def test_the_hostile_pickles_are_hostile(tmp_path: Path) -> None:
    for number, data in enumerate(_hostile(tmp_path / "touched")[:-1]):
        (tmp_path / "touched").unlink(missing_ok=True)
        pickle.loads(data)  # noqa: S301
        assert (tmp_path / "touched").exists(), number


@pytest.mark.parametrize("number", range(11))
@pytest.mark.parametrize("how", ["loose", "in the archive"])
def test_a_hostile_pickle_touches_nothing_and_is_refused(tmp_path: Path, number: int, how: str) -> None:
    data = _hostile(tmp_path / "touched")[number]
    _lay(tmp_path, {**pickles.archive_files(), "test_batch": data}, how)
    with pytest.raises(NetdynoError, match=r"test_batch: expected a (pickle of plain values|complete pickle)"):
        cifar_pickle.open(tmp_path, "test")
    assert not (tmp_path / "touched").exists()


def test_what_a_hostile_pickle_asks_for_is_named(tmp_path: Path) -> None:
    _lay(tmp_path, {**pickles.archive_files(), "test_batch": b"cos\nsystem\n(S'x'\ntR."})
    with pytest.raises(NetdynoError, match=r"received one that asks for os\.system"):
        cifar_pickle.open(tmp_path, "test")


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02r\xff\xff\xff\xff.",
        b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b".",
        b"\x80\x04\x8e" + struct.pack("<Q", 2**60) + b"x.",
        b"B" + struct.pack("<i", 2**31 - 1) + b"x.",
        b"\x80\x02" + b"]" * 5000 + b"a" * 4999 + b".",
        b"",
        b".",
        b"not a pickle",
        b"}.",
        b"].",
    ],
)
def test_a_pickle_that_is_damaged_or_announces_too_much_is_refused(tmp_path: Path, data: bytes) -> None:
    _lay(tmp_path, {**pickles.archive_files(), "test_batch": data})
    with pytest.raises(NetdynoError, match="test_batch: expected"):
        cifar_pickle.open(tmp_path, "test")


@FEW
@given(cut=st.integers(0, 12_000))
def test_a_pickle_cut_anywhere_is_refused(tmp_path_factory, cut: int) -> None:
    files = pickles.archive_files()
    data = files["test_batch"]
    root = _lay(tmp_path_factory.mktemp("cut"), {**files, "test_batch": data[: min(cut, len(data) - 1)]})
    with pytest.raises(NetdynoError, match="test_batch: expected"):
        cifar_pickle.open(root, "test")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": [0, 1, 2]}, "expected 4 labels"),
        ({"labels": [0, 1, 2, 3]}, "item 3: expected a label from 0 to 2, received 3"),
        ({"labels": ["0", "1", "2", "0"]}, "expected 4 labels"),
        ({"labels": 7}, "expected 4 labels"),
        ({"filenames": ["a"]}, "expected 4 filenames"),
        ({"data": pickles.planes(1, 4)[:, :3071]}, "expected data of items × 3072 bytes"),
        ({"data": np.zeros((4, 3072), np.int64)}, "expected data of items × 3072 bytes"),
        ({"data": [1, 2]}, "expected data of items × 3072 bytes"),
    ],
)
def test_a_batch_that_is_none_is_refused(tmp_path: Path, changes: dict, words: str) -> None:
    _lay(tmp_path, {**pickles.archive_files(), "test_batch": pickles.pickled_batch(5, 4, **changes)})
    with pytest.raises(NetdynoError, match=f"test_batch.*{words}"):
        cifar_pickle.open(tmp_path, "test")


def test_a_missing_batch_is_named(tmp_path: Path) -> None:
    files = pickles.archive_files()
    files.pop("data_batch_3")
    with pytest.raises(NetdynoError, match="expected the batch data_batch_3"):
        cifar_pickle.open(_lay(tmp_path, files, "in the archive"), "train")


def test_a_cut_archive_is_refused(tmp_path: Path) -> None:
    _lay(tmp_path, pickles.archive_files(), "in the archive")
    _cut(tmp_path / "cifar-10-python.tar.gz", -2000)
    with pytest.raises(NetdynoError, match="expected a complete gzip file"):
        cifar_pickle.open(tmp_path, "train")


def test_pickles_are_not_written() -> None:
    with pytest.raises(NetdynoError, match="format to write"):
        format_to_write(cifar_pickle.NAME)


def test_gigabytes_of_zeros_are_not_searched_for_labels(tmp_path):
    (tmp_path / "data_batch_1.bin").touch()
    os.truncate(tmp_path / "data_batch_1.bin", 3073 * 2**24)
    with pytest.raises(NetdynoError, match="at most 1,000,000 items without a sidecar, received 16,777,216"):
        cifar.open(tmp_path, "train")
