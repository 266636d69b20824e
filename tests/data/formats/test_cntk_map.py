"""A text that maps images to labels."""

import os

import pytest
from tests.data.samples import contents, encoded_items, most_memory, read, write

from netdyno.data.formats import cntk_map
from netdyno.errors import NetdynoError


def _map(root, text):
    (root / "train_map.txt").write_bytes(text)


def _an_image(root):
    (item,) = encoded_items(1)
    (root / "cat.jpg").write_bytes(item.encoded)
    return item


def test_a_line_has_a_path_from_the_maps_folder_a_tab_and_a_label(tmp_path):
    items = encoded_items(2)
    write(cntk_map.FORMAT, tmp_path, items)
    lines = (tmp_path / "train_map.txt").read_text()
    assert lines == (
        ".../train_images/00000/00000000_image-0.JPEG\t0\n.../train_images/00000/00000001_image-1.JPEG\t1\n"
    )
    assert (tmp_path / "train_images/00000/00000001_image-1.JPEG").read_bytes() == items[1].encoded


def test_a_folder_holds_a_thousand_images(tmp_path):
    items = encoded_items(1, "PNG") * 1001
    write(cntk_map.FORMAT, tmp_path, items, batch=500)
    assert len(list((tmp_path / "train_images/00000").iterdir())) == 1000
    assert len(list((tmp_path / "train_images/00001").iterdir())) == 1
    assert contents(read(cntk_map.FORMAT, tmp_path)) == contents(items)


def test_everything_can_be_moved_together(tmp_path):
    items = encoded_items(3)
    write(cntk_map.FORMAT, tmp_path / "here", items)
    (tmp_path / "here").rename(tmp_path / "there")
    assert contents(read(cntk_map.FORMAT, tmp_path / "there")) == contents(items)


@pytest.mark.parametrize("path", ["cat.jpg", ".../cat.jpg", "{root}/cat.jpg"])
def test_paths_from_here_and_from_the_root_are_followed(path, tmp_path):
    item = _an_image(tmp_path)
    _map(tmp_path, path.format(root=tmp_path).encode() + b"\t0\r\n")
    (found,) = read(cntk_map.FORMAT, tmp_path)
    assert (found.encoded, found.label, found.name) == (item.encoded, 0, "cat.jpg")


@pytest.mark.parametrize(
    "line",
    [b"cat.jpg", b"cat.jpg 0", b"\t0", b"", b"cat.jpg\tcat", b"cat.jpg\t-1", b"a\0b\t0", b"\xff\t\xff", b"c\t1e3"],
)
def test_a_line_without_path_or_label_is_named(line, tmp_path):
    _an_image(tmp_path)
    _map(tmp_path, b"cat.jpg\t0\n" + line + b"\n")
    with pytest.raises(NetdynoError, match=r"train_map\.txt, line 2: expected a path, a tab and a label"):
        read(cntk_map.FORMAT, tmp_path)


def test_an_enormous_line_is_refused(tmp_path):
    _map(tmp_path, b"x" * 10**6 + b"\t0\n")
    with pytest.raises(NetdynoError, match="end of a line within 16384 bytes"):
        read(cntk_map.FORMAT, tmp_path)


def test_a_missing_image_is_named(tmp_path):
    write(cntk_map.FORMAT, tmp_path, encoded_items(3))
    (tmp_path / "train_images/00000/00000001_image-1.JPEG").unlink()
    with pytest.raises(NetdynoError, match=r"00000001_image-1\.JPEG cannot be read: No such file"):
        read(cntk_map.FORMAT, tmp_path)


@pytest.mark.parametrize("size", [0, 3, 100])
def test_a_cut_image_is_named_with_its_line(size, tmp_path):
    write(cntk_map.FORMAT, tmp_path, encoded_items(3))
    path = tmp_path / "train_images/00000/00000001_image-1.JPEG"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(NetdynoError, match=r"00000001_image-1.JPEG, line 2 of .*train_map.txt: expected"):
        read(cntk_map.FORMAT, tmp_path)


def test_a_folder_in_place_of_an_image_is_refused(tmp_path):
    (tmp_path / "cat.jpg").mkdir()
    _map(tmp_path, b"cat.jpg\t0\n")
    with pytest.raises(NetdynoError, match=r"cat\.jpg: expected a file"):
        read(cntk_map.FORMAT, tmp_path)


def test_a_last_line_without_its_end_may_be_cut_and_is_refused(tmp_path):
    _an_image(tmp_path)
    _map(tmp_path, b"cat.jpg\t0\ncat.jpg\t1")
    with pytest.raises(NetdynoError, match="expected the end of a line"):
        cntk_map.FORMAT.open(tmp_path, "train")


def test_a_map_without_lines_is_not_read_to_its_end(tmp_path):
    write(cntk_map.FORMAT, tmp_path, encoded_items(3))
    os.truncate(tmp_path / "train_map.txt", 2**31)
    with most_memory(2**25), pytest.raises(NetdynoError, match="end of a line within 16384 bytes"):
        cntk_map.FORMAT.open(tmp_path, "train")


def test_a_map_of_too_many_lines_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(cntk_map, "_MOST_LINES", 2)
    write(cntk_map.FORMAT, tmp_path, encoded_items(3))
    with pytest.raises(NetdynoError, match="at most 2 lines"):
        cntk_map.FORMAT.open(tmp_path, "train")


def test_an_image_of_gigabytes_is_not_read(tmp_path):
    _an_image(tmp_path)
    os.truncate(tmp_path / "cat.jpg", 2**29)
    _map(tmp_path, b".../cat.jpg\t0\n")
    with most_memory(2**25), pytest.raises(NetdynoError, match="expected at most 268,435,456 bytes"):
        read(cntk_map.FORMAT, tmp_path)
