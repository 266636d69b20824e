"""A conversion loses and swaps nothing, on one core or several; whatever ends it leaves no process behind."""

import io
import multiprocessing
import threading

import numpy as np
import pytest
from PIL import Image
from tests.data.fakes import Kept, Numbered, nothing, numbered
from tests.data.samples import about, encoded_items, pixel_items

from netdyno.data import convert as converting
from netdyno.data.catalog import find_dataset
from netdyno.data.codecs.images import pixels_of
from netdyno.data.convert import CHUNK, Target, convert, convert_split
from netdyno.data.drawn import Shapes
from netdyno.data.formats.registry import formats, open_split, written_formats
from netdyno.data.item import About, Item, subset_of
from netdyno.data.recipe import Recipe, about_to_write, cut
from netdyno.errors import NetdynoError


class Listed:
    """A source of given items."""

    def __init__(self, items, shape=None):
        self.items = items
        self.about = About(count=len(items), classes=about(items).classes, shape=shape)

    def item(self, index):
        return self.items[index]


def _recipe(source, to_pixels=True):
    return Recipe(source=source, about=source.about, to_pixels=to_pixels)


def _numbers(writer):
    return [int(item.name) for item in writer.items]


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("count", [1, CHUNK, 10 * CHUNK + 7])
def test_every_item_arrives_once_and_in_order(processes, count):
    writer = Kept()
    done = convert(_recipe(numbered(count)), writer, processes, nothing)
    assert _numbers(writer) == list(range(count))
    assert writer.finished
    assert (done.count, done.begun_at) == (count, 0)


def test_processes_that_encode_keep_the_order_too():
    writer = Kept(wants_pixels=False)
    convert(_recipe(numbered(500), to_pixels=False), writer, 2, nothing)
    assert _numbers(writer) == list(range(500))
    for item in writer.items:
        assert np.array_equal(pixels_of(item, 1), numbered(500).item(int(item.name)).pixels)
    assert multiprocessing.active_children() == []


def test_other_processes_are_asked_only_for_work():
    drawn = Shapes(about=find_dataset("shapes-cifar10").about("train"), split="train")
    assert _recipe(drawn).is_work
    assert _recipe(numbered(10), to_pixels=False).is_work
    assert not _recipe(numbered(10)).is_work


def test_it_continues_behind_what_is_safe():
    source = numbered(300)
    writer = Kept(items=[source.item(index) for index in range(123)])
    done = convert(_recipe(source), writer, 2, nothing)
    assert _numbers(writer) == list(range(300))
    assert done.begun_at == 123


def test_progress_grows_to_the_end():
    told = []
    source = numbered(400, pause_s=0.005)
    convert(_recipe(source), Kept(), 1, lambda done, per_s: told.append((done, per_s)))
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert len(told) > 1
    assert told[-1][0] == 400
    assert 0 < told[-1][1] <= 200


def test_a_slow_writer_holds_the_readers_back(monkeypatch):
    """Memory stays constant: however long the source, only so many items are on their way."""
    monkeypatch.setattr(converting, "WRITE_EVERY_S", 0.0)
    read, furthest = [], []
    lock = threading.Lock()

    class Watched(Numbered):
        def item(self, index):
            with lock:
                read.append(index)
            return super().item(index)

    class Slow(Kept):
        def write(self, items):
            super().write(items)
            furthest.append(max(read) - self.done)

    source = Watched(numbered(5000).about)
    convert(_recipe(source), Slow(), 2, nothing)
    assert max(furthest) <= converting.AHEAD * 2 * CHUNK


def test_large_items_travel_in_small_chunks(monkeypatch):
    monkeypatch.setattr(converting, "CHUNK_BYTES", 100)
    assert converting._chunk_items(_recipe(numbered(1000))) == 3
    monkeypatch.setattr(converting, "CHUNK_BYTES", 1 << 22)
    assert converting._chunk_items(_recipe(numbered(1000))) == CHUNK


def test_a_write_is_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr(converting, "WRITE_BYTES", 2000)
    writer = Kept()
    convert(_recipe(numbered(1000)), writer, 1, nothing)
    assert writer.largest_write <= CHUNK + 2000 // 30


@pytest.mark.parametrize("to_pixels", [True, False], ids=["threads", "processes"])
def test_a_bad_item_ends_it_with_its_own_words_and_no_process_is_left(to_pixels):
    writer = Kept(wants_pixels=to_pixels)
    with pytest.raises(NetdynoError, match=r"file.bin, item 200: expected .* Mend it"):
        convert(_recipe(numbered(1000, bad=200), to_pixels), writer, 2, nothing)
    assert _numbers(writer) == list(range(writer.done))
    assert writer.done <= 200
    assert not writer.finished
    assert multiprocessing.active_children() == []


def test_a_process_that_dies_is_told_and_none_is_left():
    writer = Kept(wants_pixels=False)
    with pytest.raises(NetdynoError, match="was killed"):
        convert(_recipe(numbered(1000, deadly=300), to_pixels=False), writer, 2, nothing)
    assert not writer.finished
    assert multiprocessing.active_children() == []


def test_a_full_disk_keeps_what_was_written(monkeypatch):
    monkeypatch.setattr(converting, "WRITE_EVERY_S", 0.0)
    writer = Kept(full_at=500)
    with pytest.raises(NetdynoError, match="no space left"):
        convert(_recipe(numbered(1000)), writer, 2, nothing)
    assert 0 < writer.done <= 500
    writer.full_at = 1000
    convert(_recipe(numbered(1000)), writer, 2, nothing)
    assert _numbers(writer) == list(range(1000))


def _contents(source):
    items = [source.item(index) for index in range(source.about.count)]
    return sorted((item.label, pixels_of(item, 3).tobytes(), item.encoded or b"") for item in items)


@pytest.mark.parametrize("name", written_formats())
def test_pixels_go_through_every_format_and_back(tmp_path, name):
    source = Listed(pixel_items(150, (6, 7, 3)), (6, 7, 3))
    convert_split(source, "train", Target(format=name, folder=tmp_path / "there"), nothing)
    between = open_split(tmp_path / "there", "train")
    convert_split(between, "train", Target(format="packed", folder=tmp_path / "back"), nothing)
    back = open_split(tmp_path / "back", "train")
    assert back.about.shape == (6, 7, 3)
    assert _contents(back) == _contents(source)


@pytest.mark.parametrize("name", [name for name in written_formats() if name not in ("idx", "cifar", "packed")])
def test_encoded_images_go_through_every_format_byte_for_byte(tmp_path, name):
    source = Listed(encoded_items(150))
    convert_split(source, "test", Target(format=name, folder=tmp_path / "there", processes=2), nothing)
    convert_split(
        open_split(tmp_path / "there", "test"), "test", Target(format="tar", folder=tmp_path / "back"), nothing
    )
    assert _contents(open_split(tmp_path / "back", "test")) == _contents(source)


@pytest.mark.parametrize("name", written_formats())
def test_a_folder_s_format_is_found_by_looking(tmp_path, name):
    convert_split(Listed(pixel_items(9), (5, 4, 3)), "test", Target(format=name, folder=tmp_path), nothing)
    found = [known for known in formats() if formats()[known].find(tmp_path)]
    assert name in found
    assert open_split(tmp_path, "test").about.count == 9


def test_a_split_that_is_there_is_left_alone_and_another_part_of_it_is_refused(tmp_path):
    source = Listed(pixel_items(9), (5, 4, 3))
    target = Target(format="packed", folder=tmp_path)
    convert_split(source, "train", target, nothing)
    assert convert_split(source, "train", target, nothing) is None
    with pytest.raises(NetdynoError, match="expected 4 images of 5×4×3, there are 9 images"):
        convert_split(subset_of(source, 4), "train", target, nothing)


def test_a_subset_is_spread_over_the_whole():
    part = subset_of(numbered(1000), 4)
    assert [part.item(index).name for index in range(4)] == ["0", "250", "500", "750"]
    with pytest.raises(NetdynoError, match="received 1,001"):
        subset_of(numbered(1000), 1001)
    with pytest.raises(NetdynoError, match="received 4"):
        part.item(4)


def _png(shape, value=100):
    file = io.BytesIO()
    Image.fromarray(np.full(shape, value, np.uint8)).save(file, "PNG")
    return Item(name="x.png", label=0, encoded=file.getvalue())


def test_images_of_different_sizes_ask_for_a_size(tmp_path):
    source = Listed([_png((8, 8, 3)), _png((8, 9, 3))])
    with pytest.raises(NetdynoError, match=r"item 1 .*expected 8×8×3 pixels.*received 8×9×3.*--size"):
        convert_split(source, "train", Target(format="packed", folder=tmp_path), nothing)
    assert formats()["packed"].find(tmp_path) == []


def test_a_size_cuts_the_centre_out_of_the_shorter_side(tmp_path):
    wide = np.zeros((10, 30, 3), np.uint8)
    wide[:, 10:20] = (200, 100, 50)
    source = Listed([Item(name="wide", label=0, pixels=wide), _png((40, 20, 3))])
    convert_split(source, "train", Target(format="packed", folder=tmp_path, size=5), nothing)
    first = open_split(tmp_path, "train").item(0).pixels
    assert first.shape == (5, 5, 3)
    assert np.all(first[:, 1:4] == (200, 100, 50))


def test_cutting_at_once_is_resizing_then_cropping():
    pixels = np.asarray(Image.effect_noise((300, 200), 90).resize((300, 200)), np.uint8)[:, :, None]
    in_two = Image.fromarray(pixels[:, :, 0]).resize((150, 100), Image.Resampling.BILINEAR).crop((25, 0, 125, 100))
    assert np.abs(cut(pixels, 100)[:, :, 0].astype(int) - np.asarray(in_two).astype(int)).max() <= 1


def test_grey_stays_grey_only_if_all_are():
    grey, coloured = _png((8, 8)), _png((8, 8, 3))
    assert about_to_write(Listed([grey] * 5), "packed", 6).shape == (6, 6, 1)
    assert about_to_write(Listed([grey] * 4 + [coloured]), "packed", 6).shape == (6, 6, 3)


def test_a_coloured_image_among_grey_ones_is_not_made_grey_in_silence(tmp_path):
    with pytest.raises(NetdynoError, match="expected a grey image as the others are"):
        convert_split(
            Listed([_png((8, 8)), _png((8, 8, 3))]), "train", Target(format="packed", folder=tmp_path), nothing
        )


def test_a_size_is_refused_by_formats_that_keep_images_as_they_are(tmp_path):
    with pytest.raises(NetdynoError, match="--size: expected a format of pixels, received 'tar'"):
        convert_split(Listed(encoded_items(3)), "train", Target(format="tar", folder=tmp_path, size=8), nothing)


def test_a_disk_without_room_is_told_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(converting.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000})())
    with pytest.raises(NetdynoError, match="expected 30,000 bytes free on its disk, there are 1,000"):
        convert_split(numbered(1000), "train", Target(format="packed", folder=tmp_path), nothing)
    assert not list(tmp_path.rglob("*.packed"))


def test_a_format_that_is_only_read_is_no_target(tmp_path):
    with pytest.raises(NetdynoError, match="no format to write named 'ilsvrc'"):
        convert_split(numbered(3), "train", Target(format="ilsvrc", folder=tmp_path), nothing)


def test_an_empty_split_is_refused(tmp_path):
    with pytest.raises(NetdynoError, match="an empty one"):
        convert_split(numbered(0), "train", Target(format="packed", folder=tmp_path), nothing)


def test_where_nothing_lies_the_known_formats_are_told(tmp_path):
    with pytest.raises(NetdynoError, match=r"expected a dataset in one of the formats idx, .*folder; none is there"):
        open_split(tmp_path, "train")
    with pytest.raises(NetdynoError, match="received none"):
        open_split(tmp_path / "nowhere", "train")
