"""A folder of images keeps them byte for byte, with their names; missing, empty and foreign folders are named."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.data.samples import CLASSES, about, encoded_items, pixel_items, write

from netdyno.data.codecs.images import pixels_of
from netdyno.data.convert import Target, convert_split
from netdyno.data.formats import image_folder
from netdyno.data.formats.registry import open_split
from netdyno.data.item import About, Item
from netdyno.errors import NetdynoError

JPEG = encoded_items(1)[0].encoded
PNG = encoded_items(1, "PNG")[0].encoded
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _lay(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PNG if name.lower().endswith("png") else JPEG)
    return root


def _read(root: Path, split: str = "train") -> list[Item]:
    source = pickle.loads(pickle.dumps(image_folder.open(root, split)))  # noqa: S301
    return [source.item(index) for index in range(source.about.count)]


def _known(items: list[Item]) -> list[tuple]:
    """Sorted as a folder is: by class, then by name."""
    return sorted((item.label, item.name, item.encoded) for item in items)


def test_labels_are_the_ranks_of_the_classes_names(tmp_path: Path) -> None:
    _lay(tmp_path, "train/dog/b.JPEG", "train/dog/a.png", "train/cat/z.jpg", "test/cat/1.jpg", "test/dog/2.jpeg")
    assert list(image_folder.find(tmp_path)) == ["train", "test"]
    assert [(item.label, item.name) for item in _read(tmp_path)] == [(0, "z.jpg"), (1, "a.png"), (1, "b.JPEG")]
    assert [item.encoded for item in _read(tmp_path)] == [JPEG, PNG, JPEG]
    source = image_folder.open(tmp_path, "test")
    assert source.about == About(count=2, classes=("cat", "dog"))


def test_val_is_a_split_to_test_with(tmp_path: Path) -> None:
    _lay(tmp_path, "val/n01440764/ILSVRC2012_val_00000293.JPEG")
    assert list(image_folder.find(tmp_path)) == ["test"]
    assert _read(tmp_path, "test")[0].name == "ILSVRC2012_val_00000293.JPEG"


def test_a_folder_of_classes_alone_is_one_to_train_with(tmp_path: Path) -> None:
    _lay(tmp_path, "cat/1.jpg", "dog/1.jpg")
    (tmp_path / "README.txt").write_text("mine")
    (tmp_path / "dog" / "notes.txt").write_text("ignored")
    (tmp_path / "dog" / ".hidden.jpg").write_bytes(JPEG)
    _lay(tmp_path, ".cache/1.jpg")
    assert list(image_folder.find(tmp_path)) == ["train"]
    assert [item.label for item in _read(tmp_path)] == [0, 1]


@pytest.mark.parametrize("names", [(), ("a.jpg",), ("deep/deeper/a.jpg",), ("texts/a.txt",)])
def test_a_folder_without_images_in_classes_is_none(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert image_folder.find(_lay(tmp_path, *names)) == []
    with pytest.raises(NetdynoError, match="expected"):
        image_folder.open(tmp_path, "train")


def test_empty_class_folders_are_named(tmp_path: Path) -> None:
    _lay(tmp_path, "train/cat/1.jpg")
    (tmp_path / "train" / "dog").mkdir()
    (tmp_path / "train" / "eel").mkdir()
    with pytest.raises(NetdynoError, match="expected images in each class folder, received none in dog, eel"):
        image_folder.open(tmp_path, "train")


def test_a_test_split_may_lack_a_class_and_keeps_its_labels(tmp_path: Path) -> None:
    _lay(tmp_path, "train/cat/1.jpg", "train/dog/1.jpg", "test/dog/1.jpg")
    source = image_folder.open(tmp_path, "test")
    assert source.about.classes == ("cat", "dog")
    assert [source.item(index).label for index in range(source.about.count)] == [1]
    _lay(tmp_path, "test/cat/1.jpg", "test/eel/1.jpg")
    with pytest.raises(NetdynoError, match="received one more named eel"):
        image_folder.open(tmp_path, "test")


@pytest.mark.parametrize("kind", ["webp", "bmp", "gif"])
def test_images_that_no_framework_keeps_are_read_as_pixels(tmp_path: Path, kind: str) -> None:
    _lay(tmp_path, "train/cat/1.jpg", "train/cat/3.jpg")
    for number, mode in (("0", "L"), ("2", "RGB")):
        more = {"lossless": True} if kind == "webp" else {}
        Image.new(mode, (4, 6), 77 if mode == "L" else (77, 0, 255)).save(
            tmp_path / f"train/cat/{number}.{kind}", **more
        )
    items = [image_folder.open(tmp_path, "train").item(index) for index in range(4)]
    assert [item.name for item in items] == [f"0.{kind}", "1.jpg", f"2.{kind}", "3.jpg"]
    assert items[2].pixels[5, 3].tolist() == [77, 0, 255]
    assert np.all(items[0].pixels == 77)
    target = Target(format="folder", folder=tmp_path / "out")
    convert_split(image_folder.open(tmp_path, "train"), "train", target, lambda *_: None)
    assert sorted(path.name for path in (tmp_path / "out/train/cat").iterdir()) == [
        f"0.{kind}.png", "1.jpg", f"2.{kind}.png", "3.jpg",
    ]  # fmt: skip


def test_images_that_are_not_read_are_counted(tmp_path: Path) -> None:
    _lay(
        tmp_path, "train/cat/1.jpg", "train/cat/2.tif", "train/cat/more/3.jpg", "train/cat/more/4.png", "train/5.jpg"
    )
    _lay(tmp_path, "test/cat/1.jpg", "val/cat/1.jpg", "train/cat/notes.txt")
    (tmp_path / "train/cat/6.jpg").symlink_to(tmp_path / "nowhere")
    source = image_folder.open(tmp_path, "train")
    assert source.about.count == 1
    assert source.left_out == {
        f"images in {tmp_path}/train outside its class folders": 1,
        "images of a kind that is not read (.tif)": 1,
        f"images in folders below {tmp_path}/train/*/": 2,
        "images that are broken links or pipes": 1,
    }
    assert image_folder.open(tmp_path, "test").left_out == {f"class folders in {tmp_path}/val": 1}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "received no bytes at all"),
        (b"GIF89a", "cannot be decoded"),
        (b"II*", "received bytes"),
        (JPEG[:-2], "it is cut"),
    ],
)
def test_a_file_that_is_no_whole_image_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    _lay(tmp_path, "train/cat/1.jpg", "train/cat/2.jpg")
    (tmp_path / "train/cat/2.jpg").write_bytes(data)
    source = image_folder.open(tmp_path, "train")
    assert source.item(0).encoded == JPEG
    with pytest.raises(NetdynoError, match=rf"train/cat/2\.jpg: .*{words}"):
        source.item(1)


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    source = image_folder.open(_lay(tmp_path, "train/cat/1.jpg"), "train")
    (tmp_path / "train/cat/1.jpg").unlink()
    with pytest.raises(NetdynoError, match=r"train/cat/1\.jpg cannot be read"):
        source.item(0)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_images_are_written_byte_for_byte_under_their_names(tmp_path: Path, kind: str) -> None:
    items = encoded_items(10, kind)
    write(image_folder, tmp_path, items)
    assert list(image_folder.find(tmp_path)) == ["train"]
    assert [(item.label, item.name, item.encoded) for item in _read(tmp_path)] == _known(items)
    assert image_folder.open(tmp_path, "train").about == about(items)
    assert sorted(path.name for path in (tmp_path / "train").iterdir()) == list(CLASSES)


def test_pixels_are_written_as_png(tmp_path: Path) -> None:
    items = pixel_items(5)
    write(image_folder, tmp_path, items)
    found = {item.name: item for item in _read(tmp_path)}
    assert sorted(found) == ["0.png", "1.png", "2.png", "3.png", "4.png"]
    for item in items:
        assert pixels_of(found[f"{item.name}.png"], 3).tolist() == item.pixels.tolist()
        assert found[f"{item.name}.png"].label == item.label
    assert image_folder.open(tmp_path, "train").about == about(items)


@FEW
@given(
    classes=st.lists(st.text(max_size=70), min_size=1, max_size=12),
    names=st.lists(st.text(max_size=70), min_size=1, max_size=6),
    data=st.data(),
)
def test_any_names_are_made_harmless_and_labels_stay(tmp_path_factory, classes, names, data) -> None:
    root = tmp_path_factory.mktemp("names") / "inside"
    labels = [data.draw(st.integers(0, len(classes) - 1)) for _ in names]
    images = [PNG[:-12] + bytes([index]) + PNG[-12:] for index in range(len(names))]
    items = [Item(name=n, label=la, encoded=e) for n, la, e in zip(names, labels, images, strict=True)]
    writer = image_folder.create(root, "train", About(count=len(items), classes=tuple(classes)))
    writer.write(items)
    writer.finish()
    assert sorted((item.label, item.encoded) for item in _read(root)) == sorted(zip(labels, images, strict=True))
    assert image_folder.open(root, "train").about.classes == tuple(classes)
    assert sorted(path.name for path in root.iterdir()) == ["train", "train.folder.json"]
    folders = sorted(path.name for path in (root / "train").iterdir())
    assert len(folders) == len(classes)
    for item in items:
        assert any(p.read_bytes() == item.encoded for p in (root / "train" / folders[item.label]).iterdir())


def test_a_path_in_a_name_leads_nowhere_else(tmp_path: Path) -> None:
    root = tmp_path / "inside"
    writer = image_folder.create(root, "train", About(count=2, classes=("../up", "..")))
    writer.write([Item(name="../../../x.jpg", label=label, encoded=JPEG) for label in (0, 1)])
    writer.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert len(list(root.rglob("*.jpg"))) == 2


def test_numbers_as_classes_keep_their_order_for_every_reader(tmp_path: Path) -> None:
    items = [Item(name="x.jpg", label=label, encoded=JPEG) for label in range(11)]
    writer = image_folder.create(tmp_path, "train", About(count=11, classes=tuple(map(str, range(11)))))
    writer.write(items)
    writer.finish()
    assert sorted(os.listdir(tmp_path / "train"))[1:3] == ["01_1", "02_2"]
    assert [item.label for item in _read(tmp_path)] == list(range(11))


def test_items_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    items = [Item(name="same.png", label=0, encoded=PNG[:-12] + bytes([n]) + PNG[-12:]) for n in range(5)]
    write(image_folder, tmp_path, items, batch=2)
    assert {item.encoded for item in _read(tmp_path)} == {item.encoded for item in items}


def test_writing_continues_behind_a_crash_without_strays(tmp_path: Path) -> None:
    items = encoded_items(9)
    writer = image_folder.create(tmp_path, "train", about(items))
    writer.write(items[:4])
    writer.close()
    partial = tmp_path / "folder-train.partial"
    _lay(partial, f"train/{CLASSES[items[4].label]}/{items[4].name}")
    assert image_folder.find(tmp_path) == []
    again = image_folder.create(tmp_path, "train", about(items))
    assert again.done == 4
    again.close()
    write(image_folder, tmp_path, items)
    assert [(item.label, item.name, item.encoded) for item in _read(tmp_path)] == _known(items)


def test_a_written_folder_that_lost_images_is_refused(tmp_path: Path) -> None:
    write(image_folder, tmp_path, encoded_items(9))
    for path in (tmp_path / "train" / "bee").iterdir():
        path.unlink()
    (tmp_path / "train" / "bee").rmdir()
    with pytest.raises(NetdynoError, match=r"expected 9 images, received 6\. Without images: bee"):
        image_folder.open(tmp_path, "train")


def test_classes_without_images_stay_classes_where_we_wrote_them(tmp_path: Path) -> None:
    writer = image_folder.create(tmp_path, "train", About(count=1, classes=CLASSES))
    writer.write([Item(name="x.jpg", label=2, encoded=JPEG)])
    writer.finish()
    assert _read(tmp_path)[0].label == 2


def test_a_folder_that_is_there_is_not_written_into(tmp_path: Path) -> None:
    _lay(tmp_path, "val/cat/1.jpg")
    with pytest.raises(NetdynoError, match=r"val: .*has it already"):
        image_folder.create(tmp_path, "test", About(count=1, classes=("cat",)))


def test_a_link_to_itself_is_named(tmp_path: Path) -> None:
    _lay(tmp_path, "train/cat/1.jpg")
    for name in ("train/cat/2.jpg", "train/dog"):
        (tmp_path / name).symlink_to(Path(name).name)
        with pytest.raises(NetdynoError, match=rf"^{tmp_path}/{name}: .*Too many levels of symbolic links"):
            open_split(tmp_path, "train")
        (tmp_path / name).unlink()
