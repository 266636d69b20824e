"""Do the pipelines that decode in their framework's own code, or in Pillow's, give a set's images and labels?

Every image tells its number, and every pixel of it where it was. Where a pipeline notes that it cannot do what is
asked, it must do what it notes.
"""

import io
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sketch import SGD, Sketch  # beside the worker's tests

from netdyno.data.formats import formats
from netdyno.data.item import About, Item
from tests.parity.conftest import candidate_for, proved_specs
from tests.parity.pipeline_scripts import CLOSE, FEED, FEED_DAMAGED, PREAMBLE

ROOT = Path(__file__).parents[2]
ADAPTERS = ("mxnet_", "caffe_", "cntk_", "paddle_", "chainer_")
SPECS = [spec for spec in proved_specs() if spec.adapter in ADAPTERS and spec.native_format]
COUNT, EPOCHS, BATCH = 48, 5, 20  # no epoch ends with a batch, but all of them together do
SIDE, GREY, CROP = 64, 28, 60
CLASSES = ("ant", "bee", "cat")
MEAN, STD = (0.5, 0.4, 0.3), (0.25, 0.2, 0.3)
STEEP, APART = 3, 5  # levels from a pixel to the next, and from an image to the next
LEVELS = 2.0  # that decoders may differ by
PAD = 4

whole = {"mean": MEAN, "std": STD, "crop": None, "pad": 0, "flip": False, "resized": False}
grey = {**whole, "mean": (0.5,), "std": (0.25,)}
cropped = {**whole, "crop": CROP, "pad": PAD, "flip": True}
resized = {**whole, "crop": 48, "flip": True, "resized": True}


def _image(number):
    """Red tells the row, green the column, blue the number."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    planes = [STEEP * rows, STEEP * columns, np.full((SIDE, SIDE), APART * number)]
    file = io.BytesIO()
    Image.fromarray(np.stack(planes, axis=2).astype(np.uint8)).save(file, "JPEG", quality=95, subsampling=0)
    return Item(name=f"{number}.jpg", label=number % len(CLASSES), encoded=file.getvalue())


def _grey(number):
    rows, columns = np.mgrid[0:GREY, 0:GREY]
    file = io.BytesIO()
    Image.fromarray((STEEP * rows + 2 * columns + number).astype(np.uint8)).save(file, "PNG")
    return Item(name=f"{number}.png", label=number % len(CLASSES), encoded=file.getvalue())


def _plain(number):
    """Pixels, which some formats keep as they are."""
    pixels = np.random.RandomState(number).randint(0, 256, (GREY, GREY, 3)).astype(np.uint8)
    pixels[0, 0] = number
    return Item(name=str(number), label=number % len(CLASSES), pixels=pixels)


def _damaged(item):
    """A JPEG whose code tables make no sense, though it has its marks and an end."""
    at = item.encoded.index(b"\xff\xc4") + 5
    return replace(item, encoded=item.encoded[:at] + b"\xff" * 16 + item.encoded[at + 16 :])


def _network(channels, side):
    """It shows its images, and the gradient of a bias for each image shows their labels."""
    sketch = Sketch()
    shape, count = [BATCH, channels, side, side], channels * side * side
    sketch.input("images", shape)
    sketch.input("labels", [BATCH], 0, len(CLASSES), "integers")
    sketch.parameter("weight", [len(CLASSES), count], -0.001, 0.001)
    sketch.parameter("bias", [BATCH, len(CLASSES)], 0.0, 0.0)
    sketch.node("seen", "scale", ["images"], shape, factor=1.0)
    sketch.node("flat", "flatten", ["seen"], [BATCH, count])
    sketch.node("products", "linear", ["flat", "weight"], [BATCH, len(CLASSES)])
    sketch.node("logits", "add", ["products", "bias"], [BATCH, len(CLASSES)])
    sketch.node("loss", "softmax_cross_entropy", ["logits", "labels"], [])
    sketch.update("loss", {**SGD, "learning_rate": 1e-9})
    return sketch.wire("seen")


COLOURED = [_image(number) for number in range(COUNT)]
GREYS = [_grey(number) for number in range(COUNT)]
PLAIN = [_plain(number) for number in range(COUNT)]
CASES = {  # images, transforms, the side of what a network is given
    "whole": (COLOURED, whole, SIDE),
    "grey": (GREYS, grey, GREY),
    "plain": (PLAIN, whole, GREY),
    "cropped": (COLOURED, cropped, CROP),
    "resized": (COLOURED, resized, resized["crop"]),
    "damaged": ([*COLOURED[:20], _damaged(COLOURED[20]), *COLOURED[21:]], whole, SIDE),
}


def _asked(spec, folder, name):
    items, transforms, side = CASES[name]
    shape = None if items[0].pixels is None else items[0].pixels.shape
    about = About(count=COUNT, classes=CLASSES, shape=shape)
    writer = formats()[spec.native_format].create(folder / name, "train", about)
    writer.write(items)
    writer.finish()
    files = {"format": spec.native_format, "root": str(folder / name), "split": "train", "transforms": transforms}
    files |= {"threads": 2, "count": COUNT, "classes": len(CLASSES), "seed": 7}
    wire = _network(len(transforms["mean"]), side)
    return {"name": name, "wire": wire, "files": files, "batches": EPOCHS * COUNT // BATCH}


@pytest.fixture(scope="module", params=SPECS, ids=lambda spec: spec.name)
def written(request, tmp_path_factory):
    """(a framework, the folder with its files and with what it is asked)."""
    candidate_for(request.param, request.param.executions[0])
    folder = tmp_path_factory.mktemp(request.param.name)
    (folder / "asked.json").write_text(json.dumps([_asked(request.param, folder, name) for name in CASES]))
    return request.param, folder


def _run(written, script):
    spec, folder = written
    found = candidate_for(spec, spec.executions[0]).interpreter
    paths = [str(ROOT / "src"), str(ROOT / "tests" / "worker"), *found.module_path]
    text = PREAMBLE.format(paths=paths, adapter=spec.adapter, execution=spec.executions[0]) + script
    return subprocess.run(
        [str(found.path), "-c", text],
        cwd=folder,
        env={**os.environ, **spec.variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def _said(done):
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    if "unsupported" in said:
        pytest.skip(said["unsupported"])
    return said


@pytest.fixture(scope="module")
def told(written):
    """(what the framework says, the folder in which it left what it was fed)."""
    return _said(_run(written, FEED)), written[1]


def _fed(told, name):
    """(images as levels of 0 to 255, height × width × channels, labels, what the pipeline notes)."""
    said, folder = told
    mean, std = (np.array(CASES[name][1][what])[:, None, None] for what in ("mean", "std"))
    with np.load(folder / f"{name}.npz") as found:
        return np.moveaxis(255 * (found["images"] * std + mean), 1, 3), found["labels"], said[name]["notes"]


def _numbers(images):
    return np.rint(images[..., 2].mean(axis=(1, 2)) / APART).astype(int)


def test_every_epoch_has_each_image_once_with_its_label(told):
    images, labels, _ = _fed(told, "whole")
    numbers = _numbers(images)
    np.testing.assert_array_equal(np.sort(numbers.reshape(EPOCHS, COUNT), axis=1), [range(COUNT)] * EPOCHS)
    np.testing.assert_array_equal(labels, numbers % len(CLASSES))


def test_epochs_differ_in_order_unless_it_is_that_of_the_files(told):
    images, _, notes = _fed(told, "whole")
    epochs = {tuple(epoch) for epoch in _numbers(images).reshape(EPOCHS, COUNT)}
    assert len(epochs) == (1 if notes["order"].startswith("as it lies") else EPOCHS)


def test_images_are_those_of_the_files(told):
    images, _, _ = _fed(told, "whole")
    files = np.array([np.asarray(Image.open(io.BytesIO(item.encoded))) for item in COLOURED], float)
    assert np.abs(images - files[_numbers(images)]).max() <= LEVELS


def test_grey_images_are_exactly_those_of_the_files(told):
    images, labels, _ = _fed(told, "grey")
    numbers = np.rint(images[:, 0, 0, 0]).astype(int)
    files = np.array([np.asarray(Image.open(io.BytesIO(item.encoded))) for item in GREYS], float)
    np.testing.assert_array_equal(np.sort(numbers.reshape(EPOCHS, COUNT), axis=1), [range(COUNT)] * EPOCHS)
    np.testing.assert_array_equal(labels, numbers % len(CLASSES))
    np.testing.assert_allclose(images[..., 0], files[numbers], atol=0.01)


def test_pixels_are_exactly_those_that_were_written(told):
    images, labels, _ = _fed(told, "plain")
    numbers = np.rint(images[:, 0, 0, 0]).astype(int)
    np.testing.assert_array_equal(labels, numbers % len(CLASSES))
    np.testing.assert_allclose(images, np.array([item.pixels for item in PLAIN], float)[numbers], atol=0.01)


def test_crops_lie_anywhere_in_the_padded_image_and_half_of_them_are_flipped(told):
    images, labels, notes = _fed(told, "cropped")
    middle = images[:, 8:-8, 8:-8]  # never padding
    np.testing.assert_array_equal(labels, _numbers(middle) % len(CLASSES))
    slopes = np.diff(middle[..., 1], axis=2).mean(axis=(1, 2))
    np.testing.assert_allclose(np.abs(slopes), STEEP, atol=0.1)
    assert 0.3 < (slopes > 0).mean() < 0.7
    pad = 0 if "pad" in notes else PAD
    tops = np.rint(middle[:, 0, :, 0].mean(axis=1) / STEEP - 8)
    assert set(tops) == set(range(-pad, SIDE - CROP + pad + 1))


def test_resized_crops_have_8_to_100_percent_of_the_area_and_hardly_any_distortion(told):
    images, labels, notes = _fed(told, "resized")
    np.testing.assert_array_equal(labels, _numbers(images) % len(CLASSES))
    inner = images[:, 4:-4, 4:-4]
    heights, widths = (
        np.diff(inner[..., channel], axis=axis).mean(axis=(1, 2)) * images.shape[1] / STEEP
        for channel, axis in ((0, 1), (1, 2))
    )
    assert 0.3 < (widths > 0).mean() < 0.7
    areas, aspects = np.abs(heights * widths) / SIDE**2, np.abs(widths) / heights
    if "crop" in notes:
        assert np.ptp(areas) < 0.05
        return
    assert (areas.min() > 0.06, areas.max() < 1.05) == (True, True)
    assert (areas.min() < 0.3, areas.max() > 0.7) == (True, True)
    assert (aspects.min() > 0.68, aspects.max() < 1.47) == (True, True)


def test_a_pipeline_tells_its_order_who_decodes_and_how_long_it_was_waited_for(told):
    said = told[0]["whole"]
    assert {"order", "decode"} <= said["notes"].keys()
    assert said["seconds"]["wait_s"] > 0


def test_closing_leaves_no_process_and_no_more_threads(written):
    children, threads = zip(*_said(_run(written, CLOSE)), strict=True)
    assert set(children) == {0}
    assert threads[-1] <= threads[1]


def test_a_damaged_image_ends_the_run_with_a_reason(written):
    """An exception, or the end of a process whose last words tell it; a hang would not end here."""
    done = _run(written, FEED_DAMAGED)
    reason = _said(done)["error"] if done.returncode == 0 else done.stderr
    assert any(word in reason.lower() for word in ("jpeg", "decode", "image")), reason
