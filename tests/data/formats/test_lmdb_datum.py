"""Databases of Datum messages."""

import json

import lmdb
import numpy as np
import pytest
from tests.data.samples import about, contents, encoded_items, pixel_items, read, write

from netdyno.data.codecs.files import File
from netdyno.data.codecs.lmdb_index import values
from netdyno.data.codecs.protobuf import bytes_field, number_field
from netdyno.data.formats import lmdb_datum
from netdyno.errors import NetdynoError

PLANES = bytes(range(24))
SIZE = number_field(1, 3) + number_field(2, 4) + number_field(3, 2)


def _database(root, pairs):
    """As the library writes it."""
    folder = root / "train_lmdb"
    folder.mkdir()
    with lmdb.open(str(folder), map_size=2**28) as environment, environment.begin(write=True) as transaction:
        for key, value in pairs:
            transaction.put(key, value)
    return folder / "data.mdb"


def _found(path):
    file = File(path)
    keys, places = values(file)
    return [(key, file.read(*place)) for key, place in zip(keys, places.tolist(), strict=True)]


def _as_the_library_reads(folder):
    with lmdb.open(str(folder), readonly=True, lock=False) as environment, environment.begin() as transaction:
        return list(transaction.cursor())


def test_pixels_are_kept_plane_after_plane_and_blue_first(tmp_path):
    items = pixel_items(3, (4, 2, 3))
    write(lmdb_datum, tmp_path, items)
    for index, (key, value) in enumerate(_as_the_library_reads(tmp_path / "train_lmdb")):
        planes = items[index].pixels[:, :, ::-1].transpose(2, 0, 1).tobytes()
        assert key == b"%08d_%d" % (index, index)
        assert value == SIZE + bytes_field(4, planes) + number_field(5, items[index].label)
    assert contents(read(lmdb_datum, tmp_path)) == contents(items)


def test_encoded_images_are_flagged_as_such(tmp_path):
    (item,) = encoded_items(1)
    write(lmdb_datum, tmp_path, [item])
    expected = bytes_field(4, item.encoded) + number_field(5, 0) + number_field(7, 1)
    assert _as_the_library_reads(tmp_path / "train_lmdb") == [(b"00000000_image-0.JPEG", expected)]


def test_pixels_are_asked_for_where_all_have_one_shape(tmp_path):
    for name, items in (("pixels", pixel_items(1)), ("encoded", encoded_items(1))):
        writer = lmdb_datum.create(tmp_path / name, "train", about(items))
        assert writer.wants_pixels == (name == "pixels")
        writer.close()


@pytest.mark.parametrize("count", [0, 1, 2, 500, 20_000])
@pytest.mark.parametrize("length", [0, 10, 5000])
def test_every_value_is_found_where_the_library_has_it(count, length, tmp_path):
    if count * length > 10**7:
        count = 2000
    pairs = [(b"%08d" % index, b"%05d" % index + b"x" * (length + index % 7)) for index in range(count)]
    path = _database(tmp_path, pairs)
    assert _found(path) == pairs


def test_a_database_that_lost_values_again_is_read(tmp_path):
    path = _database(tmp_path, [(b"%05d" % index, b"x" * (index % 9000)) for index in range(1000)])
    with lmdb.open(str(path.parent), map_size=2**28) as environment, environment.begin(write=True) as transaction:
        for index in range(0, 1000, 3):
            transaction.delete(b"%05d" % index)
        transaction.put(b"00003", b"again")
    assert _found(path) == _as_the_library_reads(path.parent)


def test_a_database_of_others_tells_its_shape_and_labels(tmp_path):
    datum = SIZE + bytes_field(4, PLANES) + number_field(5, 1)
    _database(tmp_path, [(b"00000000", datum), (b"00000001", datum)])
    source = lmdb_datum.open(tmp_path, "train")
    assert (source.about.count, source.about.classes, source.about.shape) == (2, ("0", "1"), (4, 2, 3))
    assert source.item(1).name == "00000001"
    np.testing.assert_array_equal(source.item(1).pixels[:, :, ::-1].transpose(2, 0, 1).ravel(), np.arange(24))


@pytest.mark.parametrize(("said", "turned"), [({}, False), ({"channels": "rgb"}, False), ({"channels": "bgr"}, True)])
def test_what_lies_beside_a_database_tells_the_order_of_its_colours(said, turned, tmp_path):
    database = _database(tmp_path, [(b"00000000", SIZE + bytes_field(4, PLANES) + number_field(5, 0))])
    database.with_name("about.json").write_text(json.dumps({"count": 1, "classes": ["ant"], **said}))
    pixels = lmdb_datum.open(tmp_path, "train").item(0).pixels
    np.testing.assert_array_equal(pixels[0, 0], [16, 8, 0] if turned else [0, 8, 16])


def test_an_unknown_order_of_colours_is_refused(tmp_path):
    database = _database(tmp_path, [(b"00000000", SIZE + bytes_field(4, PLANES) + number_field(5, 0))])
    database.with_name("about.json").write_text(json.dumps({"count": 1, "classes": ["ant"], "channels": "gbr"}))
    with pytest.raises(NetdynoError, match="expected rgb or bgr, received 'gbr'"):
        lmdb_datum.open(tmp_path, "train")


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_what_has_no_three_colours_keeps_its_order(channels, tmp_path):
    items = pixel_items(2, (4, 2, channels))
    write(lmdb_datum, tmp_path, items)
    (_, value), _ = _as_the_library_reads(tmp_path / "train_lmdb")
    assert bytes_field(4, items[0].pixels.transpose(2, 0, 1).tobytes()) in value
    assert contents(read(lmdb_datum, tmp_path)) == contents(items)


def test_the_map_grows_as_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(lmdb_datum, "_FIRST_MAP_BYTES", 2**16)
    items = pixel_items(40, (100, 100, 3))
    write(lmdb_datum, tmp_path, items, batch=10)
    assert contents(read(lmdb_datum, tmp_path)) == contents(items)


def test_two_writers_of_one_split_do_not_mix_their_items(tmp_path):
    items = encoded_items(4)
    one = lmdb_datum.create(tmp_path, "train", about(items))
    with pytest.raises(NetdynoError, match="already open"):
        lmdb_datum.create(tmp_path, "train", about(items))
    one.write(items[:2])
    one._done = 0
    with pytest.raises(NetdynoError, match="another process is writing this split too"):
        one.write(items[:2])
    one.close()


@pytest.mark.parametrize(
    ("datum", "said"),
    [
        (SIZE + bytes_field(4, PLANES[:-1]), "expected 3 × 4 × 2 pixels, received 23 bytes"),
        (bytes_field(4, b""), "expected 0 × 0 × 0 pixels"),
        (SIZE + bytes_field(4, PLANES) + number_field(5, -3), "received -3"),
        (SIZE + bytes_field(4, PLANES) + number_field(5, 2**31), "received 2147483648"),
        (SIZE + number_field(4, 3), "expected a Datum with bytes as its data"),
        (SIZE + bytes_field(6, PLANES), "expected a Datum with bytes as its data"),
        (SIZE + bytes_field(4, PLANES) + bytes_field(5, b"cat"), "expected a Datum with bytes as its data"),
        (number_field(1, 2**40) + number_field(2, 2**20) + bytes_field(4, PLANES), "received 24 bytes"),
        (bytes_field(4, b"rubbish") + number_field(7, 1), "expected a JPEG or PNG"),
        (SIZE + bytes_field(4, PLANES)[:-3], "expected 24 bytes"),
        (b"", "pixels, received 0 bytes"),
    ],
)
def test_a_datum_that_is_no_labelled_image_is_refused(datum, said, tmp_path):
    _database(tmp_path, [(b"0", datum)])
    with pytest.raises(NetdynoError, match=said):
        read(lmdb_datum, tmp_path)


def test_pixels_of_another_shape_than_the_split_are_refused(tmp_path):
    write(lmdb_datum, tmp_path, [*pixel_items(2, (4, 2, 3)), *pixel_items(1, (2, 4, 3))])
    with pytest.raises(NetdynoError, match=r"item 2: expected pixels \(4, 2, 3\), received \(2, 4, 3\)"):
        read(lmdb_datum, tmp_path)


def test_damage_anywhere_in_the_tree_is_refused_or_harmless(tmp_path):
    """The library itself would end the process on some of these."""
    pairs = [(b"%06d" % index, b"v" * (3000 if index % 50 == 0 else 20)) for index in range(1500)]
    path = _database(tmp_path, pairs)
    data = path.read_bytes()
    draws = np.random.RandomState(5)
    refused = 0
    for _ in range(150):
        damaged = bytearray(data)
        at = draws.randint(len(data) // 4096) * 4096 + draws.randint(64)
        damaged[at] = draws.randint(256)
        path.write_bytes(damaged)
        try:
            found = _found(path)
        except NetdynoError as error:
            refused += "data.mdb, byte" in str(error)
        else:
            assert [key for key, _ in found] == [key for key, _ in pairs]
    assert refused > 38


def test_a_database_with_several_values_a_key_is_refused(tmp_path):
    folder = tmp_path / "train_lmdb"
    folder.mkdir()
    with lmdb.open(str(folder), map_size=2**24, max_dbs=1) as environment:
        environment.open_db(b"named")
    with pytest.raises(NetdynoError, match="expected a field"):
        lmdb_datum.open(tmp_path, "train")


def test_a_damaged_unfinished_database_is_refused_before_the_library_sees_it(tmp_path):
    items = encoded_items(4)
    writer = lmdb_datum.create(tmp_path, "train", about(items))
    writer.write(items[:2])
    writer.close()
    path = tmp_path / "lmdb-train.partial" / "data.mdb"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(NetdynoError, match=r"data\.mdb, byte \d+: expected"):
        lmdb_datum.create(tmp_path, "train", about(items))
