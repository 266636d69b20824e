"""Data is never mixed: what was converted knows from what, and other data does not continue or replace it."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from tests.data.fakes import nothing
from tests.data.samples import CLASSES, encoded_items, pixel_items, write

from netdyno.data import convert as converting
from netdyno.data import places
from netdyno.data.catalog import find_dataset
from netdyno.data.convert import Target, convert_split
from netdyno.data.formats import idx, image_folder, packed, tar_shards
from netdyno.data.formats.registry import open_split, written_formats
from netdyno.data.item import About, subset_of
from netdyno.data.origin import digest_of, origin_of
from netdyno.data.packing import make_ready
from netdyno.errors import NetdynoError

SHAPE = (28, 28, 1)


class Listed:
    """A source of items in memory."""

    def __init__(self, items):
        shape = items[0].pixels.shape if items[0].pixels is not None else None
        self.items, self.about = items, About(count=len(items), classes=CLASSES, shape=shape)

    def item(self, index):
        return self.items[index]


class Stopped(Exception):
    """As if it had been killed: nothing is tidied up."""


def _pixels(seed, count=300):
    draws = np.random.RandomState(seed)
    items = pixel_items(count, SHAPE)
    return [replace(item, pixels=draws.randint(0, 256, SHAPE).astype(np.uint8)) for item in items]


def _stop_after(monkeypatch, items):
    monkeypatch.setattr(converting, "WRITE_EVERY_S", 0.0)

    def progress(done, _):
        if done >= items:
            raise Stopped

    return progress


@pytest.mark.parametrize("name", written_formats())
def test_a_conversion_that_was_cut_off_is_not_continued_with_other_data(tmp_path, monkeypatch, name):
    one, other = Listed(_pixels(1)), Listed(_pixels(2))
    target = Target(format=name, folder=tmp_path / "out")
    with pytest.raises(Stopped):
        convert_split(one, "train", target, _stop_after(monkeypatch, 64))
    with pytest.raises(NetdynoError, match=r"expected it to be made from .*digest.* received .*digest.* Delete"):
        convert_split(other, "train", target, nothing)
    done = convert_split(one, "train", target, nothing)
    assert 0 < done.begun_at < 300
    assert open_split(tmp_path / "out", "train").about.origin.digest == digest_of(one)


@pytest.mark.parametrize("name", written_formats())
def test_a_split_of_other_data_is_not_taken_for_the_one_that_is_wanted(tmp_path, name):
    target = Target(format=name, folder=tmp_path)
    convert_split(Listed(_pixels(1, 9)), "train", target, nothing)
    assert convert_split(Listed(_pixels(1, 9)), "train", target, nothing) is None
    with pytest.raises(NetdynoError, match=r"made from .*Delete .* --out"):
        convert_split(Listed(_pixels(2, 9)), "train", target, nothing)


def test_a_part_has_the_origin_of_the_whole():
    source = Listed(_pixels(1))
    assert origin_of(subset_of(source, 10)) == origin_of(source)


def test_pixels_have_one_digest_in_every_format_of_pixels(tmp_path):
    digests = set()
    for name in ("idx", "cifar", "packed"):
        convert_split(Listed(_pixels(1)), "train", Target(format=name, folder=tmp_path / name), nothing)
        digests.add(digest_of(open_split(tmp_path / name, "train")))
    assert len(digests) == 1


@pytest.mark.parametrize("module", [image_folder, tar_shards.FORMAT])
def test_data_that_was_moved_is_the_same_and_one_image_more_or_other_is_not(tmp_path, module):
    write(module, tmp_path / "a", encoded_items(30))
    before = digest_of(open_split(tmp_path / "a", "train"))
    shutil.move(tmp_path / "a", tmp_path / "b")
    assert digest_of(open_split(tmp_path / "b", "train")) == before
    for number, items in enumerate(([*encoded_items(29), encoded_items(31)[30]], encoded_items(31))):
        write(module, tmp_path / f"other-{number}", items)
        assert digest_of(open_split(tmp_path / f"other-{number}", "train")) != before


def test_one_image_among_thousands_is_seen_by_its_size(tmp_path):
    for index in range(3000):
        path = tmp_path / "train" / f"{index % 2}" / f"{index:04d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded_items(1, "PNG")[0].encoded)
    before = digest_of(open_split(tmp_path, "train"))
    (tmp_path / "train" / "1" / "2001.png").write_bytes(encoded_items(3, "PNG")[2].encoded)
    assert digest_of(open_split(tmp_path, "train")) != before


def _home_with(tmp_path, seed):
    """MNIST as if it had been published so, which every other format is made from."""
    folder = places.folder_of(tmp_path / "home", "mnist", "idx")
    shutil.rmtree(folder, ignore_errors=True)
    for split in ("train", "test"):
        writer = idx.create(folder, split, About(count=30, classes=find_dataset("mnist").classes, shape=SHAPE))
        writer.write(_pixels(seed, 30))
        writer.finish()
    return tmp_path / "home"


def test_training_refuses_files_that_were_packed_from_other_data(tmp_path):
    home = _home_with(tmp_path, 1)
    first = make_ready(home, "mnist", "packed", nothing)
    assert make_ready(home, "mnist", "packed", nothing) == first
    _home_with(tmp_path, 2)
    with pytest.raises(NetdynoError, match=r"mnist/packed: expected it to be made from .*idx.*Delete"):
        make_ready(home, "mnist", "packed", nothing)
    shutil.rmtree(first.folder)
    second = make_ready(home, "mnist", "packed", nothing)
    assert first.digests["train"] != second.digests["train"]


def test_what_was_packed_stays_usable_when_its_source_is_gone(tmp_path):
    home = _home_with(tmp_path, 1)
    first = make_ready(home, "mnist", "packed", nothing)
    shutil.rmtree(places.folder_of(home, "mnist", "idx"))
    assert make_ready(home, "mnist", "packed", nothing) == first


def test_files_of_an_earlier_version_are_used_if_they_have_the_same_content(tmp_path):
    home = _home_with(tmp_path, 1)
    for seed, fits in ((1, True), (2, False)):
        folder = places.folder_of(home, "mnist", "packed")
        shutil.rmtree(folder, ignore_errors=True)
        for split in ("train", "test"):
            about = About(count=30, classes=find_dataset("mnist").classes, shape=SHAPE)
            writer = packed.create(folder, split, about)
            writer.write(_pixels(seed, 30))
            writer.finish()
        if fits:
            make_ready(home, "mnist", "packed", nothing)
        else:
            with pytest.raises(NetdynoError, match="received data that it does not name"):
                make_ready(home, "mnist", "packed", nothing)


def test_files_that_have_not_changed_are_not_read_again(tmp_path, monkeypatch):
    home = _home_with(tmp_path, 1)
    make_ready(home, "mnist", "packed", nothing)
    monkeypatch.setattr(places, "origin_of", lambda _: pytest.fail("read again"))
    make_ready(home, "mnist", "packed", nothing)
