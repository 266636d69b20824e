"""What every format of records keeps to, whatever its files look like."""

import json
import multiprocessing
import os
import pickle
import resource

import numpy as np
import pytest
from tests.data.samples import CLASSES, about, contents, encoded_items, pixel_items, read, write

from netdyno.data.codecs.images import pixels_of
from netdyno.data.formats import cntk_map, lmdb_datum, recordio, tar_shards, tfrecord
from netdyno.errors import NetdynoError

FORMATS = [tar_shards.FORMAT, lmdb_datum, recordio.FORMAT, tfrecord.FORMAT, cntk_map.FORMAT]
pytestmark = pytest.mark.parametrize("module", FORMATS, ids=lambda module: module.NAME)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_encoded_images_come_back_byte_for_byte(module, kind, tmp_path):
    items = encoded_items(13, kind)
    write(module, tmp_path, items)
    assert module.find(tmp_path) == ["train"]
    assert module.open(tmp_path, "train").about == about(items)
    assert contents(read(module, tmp_path)) == contents(items)


@pytest.mark.parametrize("shape", [(5, 4, 3), (6, 3, 1)])
def test_pixels_come_back_as_they_were(module, shape, tmp_path):
    items = pixel_items(7, shape)
    write(module, tmp_path, items)
    for item, found in zip(items, read(module, tmp_path), strict=True):
        assert found.label == item.label
        np.testing.assert_array_equal(pixels_of(found, shape[2]), item.pixels)


def test_names_come_back_where_the_format_has_them(module, tmp_path):
    items = encoded_items(4)
    write(module, tmp_path, items)
    expected = [str(index) for index in range(4)] if module is recordio.FORMAT else [item.name for item in items]
    assert [item.name for item in read(module, tmp_path)] == expected


def test_a_name_cannot_lead_out_of_the_folder(module, tmp_path):
    (item,) = encoded_items(1)
    root = tmp_path / "deep" / "root"
    for name in ("../../../escaped.jpg", "/tmp/escaped\tx\n.jpg", "", "é" * 300):
        write(module, root, [type(item)(name=name, label=1, encoded=item.encoded)])
        assert contents(read(module, root))[0][:2] == (1, item.encoded)
        assert [path.name for path in tmp_path.iterdir()] == ["deep"]
        assert [path.name for path in (tmp_path / "deep").iterdir()] == ["root"]
        root = root.with_name("root")
        _remove(root)


@pytest.mark.parametrize("cut", range(1, 9))
def test_writing_continues_behind_what_is_safe(module, cut, tmp_path):
    items = encoded_items(9)
    writer = module.create(tmp_path, "train", about(items))
    writer.write(items[:cut])
    writer.close()
    again = module.create(tmp_path, "train", about(items))
    assert again.done == cut
    again.close()
    write(module, tmp_path, items, batch=2)
    assert contents(read(module, tmp_path)) == contents(items)


def test_a_killed_writer_leaves_what_it_wrote(module, tmp_path):
    items = encoded_items(6)
    process = multiprocessing.get_context("fork").Process(target=_write_and_die, args=(module, tmp_path, items))
    process.start()
    process.join()
    assert process.exitcode == 9
    assert module.find(tmp_path) == []
    writer = module.create(tmp_path, "train", about(items))
    assert writer.done == 4
    writer.close()
    write(module, tmp_path, items)
    assert contents(read(module, tmp_path)) == contents(items)


def test_a_disk_that_fills_costs_nothing_that_was_safe(module, tmp_path):
    """The system's limit for a file's size stands for it: writing stops in the middle of something."""
    items = encoded_items(3) * 150
    process = multiprocessing.get_context("fork").Process(target=_write_until_full, args=(module, tmp_path, items))
    process.start()
    process.join()
    assert process.exitcode == 3
    assert module.find(tmp_path) == []
    safe = int((tmp_path / "safe").read_text())
    writer = module.create(tmp_path, "train", about(items))
    assert 0 < writer.done == safe < len(items)
    writer.close()
    write(module, tmp_path, items, batch=100)
    assert contents(read(module, tmp_path)) == contents(items)


def test_the_same_items_make_the_same_bytes_however_often_writing_was_cut(module, tmp_path):
    items = encoded_items(9)
    write(module, tmp_path / "at once", items, batch=9)
    for index in range(9):
        writer = module.create(tmp_path / "cut", "train", about(items))
        writer.write(items[index : index + 1])
        writer.close()
    write(module, tmp_path / "cut", items)
    if module is not lmdb_datum:  # whose pages tell of transactions
        assert _bytes(tmp_path / "at once") == _bytes(tmp_path / "cut")
    assert contents(read(module, tmp_path / "cut")) == contents(items)


def test_nothing_is_seen_of_a_split_before_it_is_finished(module, tmp_path):
    items = encoded_items(5)
    writer = module.create(tmp_path, "train", about(items))
    writer.write(items)
    assert module.find(tmp_path) == []
    with pytest.raises(NetdynoError):
        module.open(tmp_path, "train")
    writer.finish()
    assert module.find(tmp_path) == ["train"]
    assert not list(tmp_path.glob("*.partial"))


def test_another_split_is_not_taken_for_the_unfinished_one(module, tmp_path):
    items = encoded_items(5)
    writer = module.create(tmp_path, "train", about(items))
    writer.write(items[:2])
    writer.close()
    with pytest.raises(NetdynoError, match=r"[Dd]elete"):
        module.create(tmp_path, "train", about(items[:4]))


def test_a_finished_split_is_not_written_over(module, tmp_path):
    items = encoded_items(3)
    write(module, tmp_path, items)
    with pytest.raises(NetdynoError, match="has it already"):
        module.create(tmp_path, "train", about(items))


def test_both_splits_lie_in_one_folder(module, tmp_path):
    train, test = encoded_items(5), encoded_items(3, "PNG")
    write(module, tmp_path, train)
    writer = module.create(tmp_path, "test", about(test))
    writer.write(test)
    writer.finish()
    assert module.find(tmp_path) == ["train", "test"]
    source = module.open(tmp_path, "test")
    assert contents([source.item(index) for index in range(3)]) == contents(test)


def test_a_split_without_items_is_one(module, tmp_path):
    write(module, tmp_path, [])
    assert module.open(tmp_path, "train").about.count == 0


def test_a_source_reads_the_same_after_pickling(module, tmp_path):
    items = encoded_items(5)
    write(module, tmp_path, items)
    source = module.open(tmp_path, "train")
    source.item(0)
    again = pickle.loads(pickle.dumps(source))  # noqa: S301
    assert contents([again.item(index) for index in range(5)]) == contents(items)


def test_without_a_sidecar_classes_are_numbers(module, tmp_path):
    items = encoded_items(5)
    write(module, tmp_path, items)
    _sidecar(tmp_path).unlink()
    source = module.open(tmp_path, "train")
    assert source.about == type(source.about)(count=5, classes=("0", "1", "2"))


@pytest.mark.parametrize(
    ("change", "said"),
    [({"count": 4}, "expected 4 items"), ({"classes": ["ant", "bee"]}, "expected a label from 0 to 1, received 2")],
)
def test_files_that_do_not_agree_with_their_sidecar_are_refused(module, change, said, tmp_path):
    write(module, tmp_path, encoded_items(5))
    sidecar = _sidecar(tmp_path)
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), **change}))
    with pytest.raises(NetdynoError, match=said):
        read(module, tmp_path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '{"count": -1, "classes": []}', '{"count": 5, "classes": [1]}', "\x00", "[" * 10**5]
)
def test_a_damaged_sidecar_is_refused(module, text, tmp_path):
    write(module, tmp_path, encoded_items(5))
    _sidecar(tmp_path).write_text(text)
    with pytest.raises(NetdynoError, match=r"\.json: expected"):
        module.open(tmp_path, "train")


def test_a_file_that_lost_its_tail_is_refused(module, tmp_path):
    items = encoded_items(5)
    write(module, tmp_path, items)
    (path,) = [path for path in tmp_path.rglob("*") if path.name in _main_files()]
    data = path.read_bytes().removesuffix(bytes(1024))  # the end mark of an archive may be shorter
    for size in sorted({0, 1, 7, *np.linspace(0, len(data) - 1, 60).astype(int).tolist(), len(data) - 1}):
        path.write_bytes(data[:size])
        with pytest.raises(NetdynoError, match=f"{path.name}|expected 5 items"):
            read(module, tmp_path)


def test_an_image_that_is_none_is_refused(module, tmp_path):
    items = encoded_items(3)
    writer = module.create(tmp_path, "train", about(items))
    for rubbish in (b"", b"GIF89a, which nobody reads here"):
        with pytest.raises(NetdynoError, match="expected a JPEG or PNG"):
            writer.write([type(items[0])(name="rubbish", label=0, encoded=rubbish)])
    assert writer.done == 0


def test_a_label_without_a_class_is_not_written(module, tmp_path):
    items = encoded_items(3)
    writer = module.create(tmp_path, "train", about(items))
    for label in (-1, len(CLASSES)):
        with pytest.raises(NetdynoError, match=rf"item 0 \('image-1.JPEG'\): expected a label .* received {label}"):
            writer.write([type(items[0])(name="image-1.JPEG", label=label, encoded=items[1].encoded)])
    assert writer.done == 0


def test_writing_nothing_changes_nothing(module, tmp_path):
    items = encoded_items(2)
    writer = module.create(tmp_path, "train", about(items))
    for some in ([], items, []):
        writer.write(some)
    writer.finish()
    assert contents(read(module, tmp_path)) == contents(items)


@pytest.mark.parametrize("index", [-1, 3])
def test_an_item_beyond_the_split_is_not_given(module, index, tmp_path):
    write(module, tmp_path, encoded_items(3))
    with pytest.raises(NetdynoError, match="expected an item from 0 to 2"):
        module.open(tmp_path, "train").item(index)


def test_a_missing_split_is_refused(module, tmp_path):
    assert module.find(tmp_path) == module.find(tmp_path / "nowhere") == []
    with pytest.raises(NetdynoError):
        module.open(tmp_path / "nowhere", "train")


def _main_files():
    return {"train-00000.tar", "data.mdb", "train.rec", "train-00000-of-00001", "train_map.txt"}


def _sidecar(root):
    (path,) = root.rglob("*.json")
    assert json.loads(path.read_text())["classes"] == list(CLASSES)
    return path


def _write_and_die(module, root, items):
    writer = module.create(root, "train", about(items))
    writer.write(items[:2])
    writer.write(items[2:4])
    os._exit(9)


def _write_until_full(module, root, items):
    writer = module.create(root, "train", about(items))
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
    try:
        for item in items:
            writer.write([item])
    except NetdynoError:
        (root / "safe").write_text(str(writer.done))
        os._exit(3)
    os._exit(4)


def _bytes(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _remove(root):
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_pipe_in_place_of_a_sidecar_is_not_waited_for(module, tmp_path):
    write(module, tmp_path, encoded_items(2))
    (sidecar,) = tmp_path.rglob("*.json")
    sidecar.unlink()
    os.mkfifo(sidecar)
    with pytest.raises(NetdynoError, match=f"{sidecar.name}: expected a file, received a folder, pipe or device"):
        module.open(tmp_path, "train")
