"""Pixels that are fetched many at a time are those fetched one by one, and are refused for the same reasons."""

import numpy as np
import pytest
from tests.data.fakes import nothing
from tests.data.samples import contents, pixel_items, read, write

from netdyno.data import convert
from netdyno.data.convert import Target, convert_split
from netdyno.data.formats import cifar, idx, packed
from netdyno.data.formats.registry import open_split
from netdyno.data.item import PixelSource
from netdyno.errors import NetdynoError

FORMATS = [idx, cifar, packed]
COUNT = 23
for_every_format = pytest.mark.parametrize("module", FORMATS, ids=lambda module: module.NAME)


@pytest.fixture
def items():
    return pixel_items(COUNT)


def _same(images, labels, items):
    assert labels.dtype == np.int32
    assert labels.tolist() == [item.label for item in items]
    assert np.array_equal(images, np.stack([item.pixels for item in items]))


@for_every_format
@pytest.mark.parametrize(("first", "last"), [(0, COUNT), (0, 1), (9, 22), (COUNT - 1, COUNT)])
def test_a_block_holds_the_items_from_first_to_before_last(module, first, last, items, tmp_path, monkeypatch):
    monkeypatch.setattr(cifar, "ITEMS_PER_FILE", 10)
    write(module, tmp_path, items)
    source = module.open(tmp_path, "train")
    assert isinstance(source, PixelSource)
    _same(*source.pixels(first, last), items[first:last])


@for_every_format
@pytest.mark.parametrize(("first", "last"), [(-1, 3), (3, 3), (5, 4), (0, COUNT + 1)])
def test_a_block_that_is_not_there_is_refused(module, first, last, items, tmp_path):
    write(module, tmp_path, items)
    with pytest.raises(
        NetdynoError, match=rf"expected items from 0 to {COUNT - 1}, received the range from {first} to {last - 1}"
    ):
        module.open(tmp_path, "train").pixels(first, last)


@for_every_format
def test_a_label_that_changed_since_the_split_was_opened_is_refused(module, items, tmp_path):
    write(module, tmp_path, items)
    source = module.open(tmp_path, "train")
    size = 1 + items[0].pixels.size
    path, at = {
        "idx": (tmp_path / "train-labels-idx1-ubyte", 8 + 5),
        "cifar": (tmp_path / "data_batch_1.bin", 5 * size),
        "packed": (tmp_path / "train.packed", -4 * COUNT + 4 * 5),
    }[module.NAME]
    data = bytearray(path.read_bytes())
    data[at] = 77
    path.write_bytes(data)
    with pytest.raises(NetdynoError, match="expected a label from 0 to 2, received 77"):
        source.pixels(2, 9)


@pytest.mark.parametrize("to", FORMATS, ids=lambda module: module.NAME)
@for_every_format
def test_blocks_of_any_size_arrive_in_order(module, to, items, tmp_path, monkeypatch):
    monkeypatch.setattr(convert, "BLOCK_BYTES", 4 * items[0].pixels.size)
    write(module, tmp_path / "one", items)
    told = []
    wish = Target(format=to.NAME, folder=tmp_path / "other")
    done = convert_split(open_split(tmp_path / "one", "train"), "train", wish, lambda n, _: told.append(n))
    assert (done.count, told) == (COUNT, [4, 8, 12, 16, 20, COUNT])
    assert contents(read(to, tmp_path / "other")) == contents(items)


def test_blocks_continue_behind_what_is_safe(items, tmp_path, monkeypatch):
    monkeypatch.setattr(convert, "BLOCK_BYTES", 4 * items[0].pixels.size)
    write(idx, tmp_path / "one", items)
    source, wish = open_split(tmp_path / "one", "train"), Target(format="packed", folder=tmp_path / "other")

    def stop(done, _):
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_split(source, "train", wish, stop)
    assert packed.find(tmp_path / "other") == []
    assert convert_split(source, "train", wish, nothing).begun_at == 8
    assert contents(read(packed, tmp_path / "other")) == contents(items)


def test_pixels_that_are_cut_to_a_size_are_not_copied_in_blocks(items, tmp_path, monkeypatch):
    monkeypatch.setattr(convert, "blocks", None)
    write(idx, tmp_path / "one", items)
    wish = Target(format="packed", folder=tmp_path / "other", size=3)
    convert_split(open_split(tmp_path / "one", "train"), "train", wish, nothing)
    assert packed.open(tmp_path / "other", "train").about.shape == (3, 3, 3)
