"""Is what we write what the framework that owns a format reads there, and the other way round?

Bytes and labels must be the same. Images that the framework decodes must be the same too where they are PNG; decoders
of JPEG round differently, so smooth ones may differ by a little, and nothing is said of noise."""

import hashlib
import io
import json
import os
import subprocess

import lmdb
import numpy as np
import pytest
from PIL import Image

from netdyno.data.formats import cntk_map, image_folder, lmdb_datum, recordio, tfrecord
from netdyno.data.item import Item
from tests.data.samples import CLASSES, contents, encoded_items, pixel_items, read, write
from tests.parity.conftest import candidate_for, proved_specs
from tests.parity.format_scripts import (
    DECODE_RECORDIO,
    ITERATE_RECORDIO,
    READ_DATUMS,
    READ_EXAMPLES,
    READ_FOLDER,
    READ_MAP,
    READ_RECORDIO,
    WRITE_DATUMS,
    WRITE_EXAMPLES,
    WRITE_RECORDIO,
)

SHAPE = (11, 8, 3)
COUNT = 1010  # more than one shard
JPEG_LEVELS = 3.0  # mean difference of two decoders, of 255


def _of(*adapters):
    return pytest.mark.parametrize(
        "spec", [spec for spec in proved_specs() if spec.adapter in adapters], ids=lambda spec: spec.name
    )


def _smooth(index):
    """A JPEG in which decoders have little to disagree about."""
    rows, columns = np.mgrid[0:16, 0:24]
    planes = [(rows * 5 + index) % 256, columns * 9, (rows + columns) * 4]
    file = io.BytesIO()
    Image.fromarray(np.stack(planes, axis=2).astype(np.uint8)).save(file, "JPEG", quality=95, subsampling=0)
    return Item(name=f"smooth-{index}.jpg", label=index % len(CLASSES), encoded=file.getvalue())


@pytest.fixture(scope="module")
def pixels():
    return pixel_items(COUNT, SHAPE)


@pytest.fixture(scope="module")
def mixed():
    return [*encoded_items(20), *encoded_items(20, "PNG"), *(_smooth(index) for index in range(10))]


def _told(spec, folder, script):
    """What a script says about files in a folder, in the framework's own interpreter."""
    found = candidate_for(spec, spec.executions[0]).interpreter
    head = f"import hashlib, json, sys\nsys.path[:0] = {list(found.module_path)!r}\nimport numpy as np\n"
    done = subprocess.run(
        [str(found.path), "-c", head + script],
        cwd=folder,
        env={**os.environ, **spec.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def _digests(items):
    return [[item.label, hashlib.sha256(item.encoded).hexdigest()] for item in items]


def _decoded(item):
    return np.asarray(Image.open(io.BytesIO(item.encoded)).convert("RGB"))


def _assert_same_pixels(folder, items):
    """What the framework decoded, written as one array an image."""
    with np.load(folder / "decoded.npz") as found:
        assert len(found.files) == len(items)
        for index, item in enumerate(items):
            ours, theirs = _decoded(item).astype(int), found[str(index)].astype(int)
            assert theirs.shape == ours.shape
            allowed = 0 if item.name.endswith("png") else JPEG_LEVELS if item.name.startswith("smooth") else 255
            assert np.abs(theirs - ours).mean() <= allowed, (index, item.name)


@_of("mxnet")
def test_records_are_those_that_their_framework_reads(spec, mixed, tmp_path):
    write(recordio.FORMAT, tmp_path, mixed, batch=7)
    assert _told(spec, tmp_path, READ_RECORDIO) == _digests(mixed)


@_of("mxnet")
def test_images_in_records_are_decoded_by_their_framework(spec, mixed, tmp_path):
    write(recordio.FORMAT, tmp_path, mixed)
    _told(spec, tmp_path, DECODE_RECORDIO)
    _assert_same_pixels(tmp_path, mixed)


@_of("mxnet")
def test_the_frameworks_own_pipeline_gives_the_records_images_in_order(spec, pixels, tmp_path):
    write(recordio.FORMAT, tmp_path, pixels, batch=100)
    _told(spec, tmp_path, f"SHAPE = {json.dumps(SHAPE)!r}\n" + ITERATE_RECORDIO)
    with np.load(tmp_path / "batches.npz") as found:
        np.testing.assert_array_equal(found["labels"], [item.label for item in pixels])
        np.testing.assert_array_equal(found["data"].transpose(0, 2, 3, 1), [item.pixels for item in pixels])


@_of("mxnet")
def test_records_of_their_framework_are_read(spec, mixed, tmp_path):
    _hand_over(tmp_path, mixed)
    _told(spec, tmp_path, WRITE_RECORDIO)
    assert contents(read(recordio.FORMAT, tmp_path)) == contents(mixed)


@_of("tensorflow_1", "tensorflow_2")
def test_examples_are_those_that_their_framework_reads(spec, mixed, tmp_path):
    write(tfrecord.FORMAT, tmp_path, mixed, batch=7)
    kinds = ["PNG" if item.name.endswith("png") else "JPEG" for item in mixed]
    expected = [[*found, item.name, kind] for found, item, kind in zip(_digests(mixed), mixed, kinds, strict=True)]
    assert _told(spec, tmp_path, READ_EXAMPLES) == expected
    _assert_same_pixels(tmp_path, mixed)


@_of("tensorflow_1", "tensorflow_2")
def test_pixels_in_several_shards_are_decoded_by_their_framework(spec, pixels, tmp_path):
    write(tfrecord.FORMAT, tmp_path, pixels, batch=100)
    assert [found[0] for found in _told(spec, tmp_path, READ_EXAMPLES)] == [item.label for item in pixels]
    with np.load(tmp_path / "decoded.npz") as found:
        for index, item in enumerate(pixels):
            np.testing.assert_array_equal(found[str(index)], item.pixels)


@_of("tensorflow_1", "tensorflow_2")
def test_examples_of_their_framework_are_read(spec, mixed, tmp_path):
    _hand_over(tmp_path, mixed)
    _told(spec, tmp_path, WRITE_EXAMPLES)
    assert contents(read(tfrecord.FORMAT, tmp_path)) == contents(mixed)


@_of("cntk")
@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_map_and_its_images_are_those_that_their_framework_reads(spec, kind, pixels, tmp_path):
    """Wherever the process stands: paths are taken from the map's folder."""
    items = [_smooth(index) for index in range(COUNT)] if kind == "JPEG" else pixels
    write(cntk_map.FORMAT, tmp_path / "data", items, batch=100)
    images = np.array([_decoded(item) if item.pixels is None else item.pixels for item in items])
    names = f"SHAPE = {images.shape[1:]!r}\nMAP = {str(tmp_path / 'data' / 'train_map.txt')!r}\n"
    if missing := _told(spec, tmp_path, names + READ_MAP):
        pytest.skip(f"{spec.name} decodes images with {', '.join(missing)}, which this machine lacks")
    with np.load(tmp_path / "batches.npz") as found:
        np.testing.assert_array_equal(found["labels"], [item.label for item in items])
        rgb = found["images"][:, ::-1].transpose(0, 2, 3, 1)  # it holds blue first
        differences = np.abs(rgb - images).reshape(COUNT, -1).mean(axis=1)
        assert differences.max() <= (JPEG_LEVELS if kind == "JPEG" else 0)


@_of("caffe")
def test_datums_are_those_that_their_framework_reads(spec, mixed, tmp_path):
    """Through the LMDB library and the framework's own messages, which a build without LMDB has too."""
    write(lmdb_datum, tmp_path, mixed, batch=7)
    _values_out(tmp_path)
    assert _told(spec, tmp_path, READ_DATUMS) == [[*found, True, None] for found in _digests(mixed)]


@_of("caffe")
def test_pixels_in_datums_are_those_that_their_framework_reads(spec, pixels, tmp_path):
    write(lmdb_datum, tmp_path, pixels[:50])
    _values_out(tmp_path)
    for found, item in zip(_told(spec, tmp_path, READ_DATUMS), pixels[:50], strict=True):
        assert (found[0], found[2]) == (item.label, False)
        np.testing.assert_array_equal(np.array(found[3])[::-1].transpose(1, 2, 0), item.pixels)  # blue first


@_of("caffe")
def test_datums_of_their_framework_are_read(spec, pixels, tmp_path):
    labels = [item.label for item in pixels]
    planes = {str(index): item.pixels.transpose(2, 0, 1)[::-1] for index, item in enumerate(pixels)}
    np.savez(tmp_path / "images.npz", labels=labels, **planes)
    _told(spec, tmp_path, WRITE_DATUMS)
    (tmp_path / "train_lmdb").mkdir()
    with (
        np.load(tmp_path / "values.npz") as values,
        lmdb.open(str(tmp_path / "train_lmdb"), map_size=2**26) as database,
        database.begin(write=True) as transaction,
    ):
        for index in range(len(pixels)):
            transaction.put(b"%08d" % index, values[str(index)].tobytes())
    assert contents(read(lmdb_datum, tmp_path)) == contents(pixels)


@_of("pytorch")
def test_a_folder_of_images_is_one_for_the_framework_that_reads_folders(spec, mixed, tmp_path):
    write(image_folder, tmp_path, mixed)
    said = _told(spec, tmp_path, READ_FOLDER)
    if said == "no Pillow":
        pytest.skip(f"{spec.name} has no Pillow in its environment, so it cannot read images")
    ordered = read(image_folder, tmp_path)
    assert sorted(said) == sorted(_digests(mixed))
    assert said == _digests(ordered)
    _assert_same_pixels(tmp_path, ordered)


def _hand_over(folder, items):
    """Images and labels as arrays, for a framework to write."""
    images = {str(index): np.frombuffer(item.encoded, np.uint8) for index, item in enumerate(items)}
    np.savez(folder / "images.npz", labels=[item.label for item in items], **images)


def _values_out(root):
    with lmdb.open(str(root / "train_lmdb"), readonly=True, lock=False) as database, database.begin() as transaction:
        values = [np.frombuffer(value, np.uint8) for _, value in transaction.cursor()]
    np.savez(root / "values.npz", **{str(index): value for index, value in enumerate(values)})
