"""ImageNet's archives are read where they lie; labels that would not fit the training images are refused."""

import io
import os
import pickle
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.samples import encoded_items

from netdyno.data.formats import ilsvrc
from netdyno.data.formats.registry import format_to_write
from netdyno.data.item import About, Item
from netdyno.errors import NetdynoError

IMAGES = [item.encoded for item in encoded_items(6)]
FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _tar(files: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return file.getvalue()


def _train(root: Path) -> Path:
    """Two classes, the second of them first."""
    inner = {
        "n00000002.tar": _tar({"n00000002_7.JPEG": IMAGES[0], "n00000002_3.JPEG": IMAGES[1]}),
        "n00000001.tar": _tar({"n00000001_9.JPEG": IMAGES[2]}),
    }
    (root / "ILSVRC2012_img_train.tar").write_bytes(_tar(inner))
    return root


def _validation(root: Path, labels: str, name: str = "val_labels.txt") -> Path:
    images = {f"ILSVRC2012_val_{number:08d}.JPEG": IMAGES[number] for number in (3, 1, 2)}
    (root / "ILSVRC2012_img_val.tar").write_bytes(_tar(images))
    (root / name).write_text(labels)
    return root


def _read(root: Path, split: str) -> list[Item]:
    source = pickle.loads(pickle.dumps(ilsvrc.open(root, split)))  # noqa: S301
    return [source.item(index) for index in range(source.about.count)]


def test_images_to_train_with_are_read_class_by_class(tmp_path: Path) -> None:
    root = _train(tmp_path)
    assert list(ilsvrc.find(root)) == ["train"]
    assert ilsvrc.open(root, "train").about == About(count=3, classes=("n00000001", "n00000002"))
    assert [(item.name, item.label, item.encoded) for item in _read(root, "train")] == [
        ("n00000001_9.JPEG", 0, IMAGES[2]),
        ("n00000002_7.JPEG", 1, IMAGES[0]),
        ("n00000002_3.JPEG", 1, IMAGES[1]),
    ]


@pytest.mark.parametrize("labels", ["n00000002\nn00000001\nn00000002\n", "1\r\n0\r\n1"])
def test_validation_labels_follow_the_images_names(tmp_path: Path, labels: str) -> None:
    root = _validation(_train(tmp_path), labels)
    assert list(ilsvrc.find(root)) == ["train", "test"]
    found = _read(root, "test")
    assert [(item.name[-6:], item.label) for item in found] == [("1.JPEG", 1), ("2.JPEG", 0), ("3.JPEG", 1)]
    assert [item.encoded for item in found] == IMAGES[1:4]
    assert ilsvrc.open(root, "test").about.classes == ("n00000001", "n00000002")


def test_the_kits_numbers_are_read_alone_and_refused_beside_training_images(tmp_path: Path) -> None:
    root = _validation(tmp_path, "2\n1\n3\n", "ILSVRC2012_validation_ground_truth.txt")
    assert [item.label for item in _read(root, "test")] == [1, 0, 2]
    assert ilsvrc.open(root, "test").about.classes == ("1", "2", "3")
    with pytest.raises(NetdynoError, match=r"labels .* in val_labels\.txt, received the numbers of the kit"):
        ilsvrc.open(_train(root), "test")
    (root / "ILSVRC2012_validation_ground_truth.txt").unlink()
    with pytest.raises(NetdynoError, match=r"in val_labels\.txt, received none"):
        ilsvrc.open(root, "test")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ("n00000002\nn00000001\n", "expected 3 lines, one for each image, received 2"),
        ("n00000002\nn00000001\n\nn00000001\n", "received 4"),
        ("n00000002\nn00000009\nn00000001\n", "line 2: expected one of 2 WNIDs, received 'n00000009'"),
        ("n00000002\n1\nn00000001\n", "line 2: expected one of 2 WNIDs, received '1'"),
        ("1\n0\n2\n", "line 3: expected a label from 0 to 1, received 2"),
        ("1\n-1\n0\n", "line 2: expected a WNID or a number"),
        ("cat\n0\n1\n", "line 1: expected a WNID or a number"),
        ("", "expected a label a line"),
    ],
)
def test_labels_that_do_not_fit_are_refused_with_their_line(tmp_path: Path, labels: str, words: str) -> None:
    with pytest.raises(NetdynoError, match=words):
        ilsvrc.open(_validation(_train(tmp_path), labels), "test")


def test_validation_images_without_labels_are_told_where_to_put_them(tmp_path: Path) -> None:
    (_validation(tmp_path, "") / "val_labels.txt").unlink()
    with pytest.raises(NetdynoError, match="Write the WNID of each image"):
        ilsvrc.open(tmp_path, "test")


@FEW
@given(cut=st.integers(0, 200))
def test_an_archive_cut_anywhere_is_refused(tmp_path_factory, cut: int) -> None:
    path = _train(tmp_path_factory.mktemp("cut")) / "ILSVRC2012_img_train.tar"
    content = path.read_bytes().rstrip(b"\0")
    os.truncate(path, len(content) * cut // 200)
    with pytest.raises(NetdynoError, match=r"ILSVRC2012_img_train\.tar.*, byte \d+: expected"):
        ilsvrc.open(path.parent, "train")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "an archive without any"),
        ({"n00000001.tar": _tar({})}, "expected images in 'n00000001.tar', received none"),
        ({"n00000001.tar": b"x" * 600}, r"n00000001\.tar, byte 0: expected"),
        ({"n00000001.tar": b""}, r"n00000001\.tar, byte 0: expected"),
        ({"cats.tar": _tar({"1.JPEG": IMAGES[0]})}, "as n01440764.tar, received 'cats.tar'"),
        ({"../n00000001.tar": b""}, "expected a name inside the archive"),
    ],
)
def test_an_archive_of_something_else_is_refused(tmp_path: Path, files: dict, words: str) -> None:
    (tmp_path / "ILSVRC2012_img_train.tar").write_bytes(_tar(files))
    with pytest.raises(NetdynoError, match=words):
        ilsvrc.open(tmp_path, "train")


def test_an_image_that_is_none_is_named_with_its_position(tmp_path: Path) -> None:
    inner = _tar({"n00000001_1.JPEG": IMAGES[0], "n00000001_2.JPEG": b""})
    (tmp_path / "ILSVRC2012_img_train.tar").write_bytes(_tar({"n00000001.tar": inner}))
    source = ilsvrc.open(tmp_path, "train")
    assert source.item(0).encoded == IMAGES[0]
    with pytest.raises(NetdynoError, match=r"n00000001_2\.JPEG at byte \d+ of .*: expected a JPEG"):
        source.item(1)


def test_archives_are_not_written() -> None:
    with pytest.raises(NetdynoError, match="format to write"):
        format_to_write(ilsvrc.NAME)
