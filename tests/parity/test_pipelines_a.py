"""Do the pipelines of frameworks that read folders and records give a set's images, labels and usual transforms?

Every image tells its number, and every pixel of it where it was: so what was cropped, scaled and flipped can be read
off a batch. A framework does all that it is asked in one process, which says what it saw.
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

from netdyno.data import image_folder, tfrecord
from netdyno.data.item import About, Item
from tests.parity.conftest import candidate_for, proved_specs

ROOT = Path(__file__).parents[2]
FORMATS = {"folder": image_folder, "tfrecord": tfrecord}
ADAPTERS = ("pytorch", "keras_", "tensorflow_1", "tensorflow_2")
SPECS = [spec for spec in proved_specs() if spec.adapter in ADAPTERS and spec.native_format]
COUNT, BATCH, SIDE, GREY = 48, 12, 64, 28
EPOCHS = 2
CLASSES = ("ant", "bee", "cat")
MEAN, STD = (0.5, 0.4, 0.3), (0.25, 0.2, 0.3)
STEEP, APART = 3, 5  # levels from a pixel to the next, and from an image to the next
KEPT = {"tensorflow_1": 3}  # idle threads that a graph's operations have until its session ends
LEVELS = 2.0  # that decoders may differ by

whole = {"mean": MEAN, "std": STD, "crop": None, "pad": 0, "flip": False, "resized": False}
grey = {**whole, "mean": (0.5,), "std": (0.25,)}
cropped = {**whole, "crop": 60, "pad": 4, "flip": True}
resized = {**whole, "crop": 48, "flip": True, "resized": True}

SCRIPT = """
import importlib, json, os, sys
sys.path[:0] = {paths!r}
import numpy as np
from netdyno_worker.contract import Files
from small_programs import job_for
adapter = importlib.import_module("netdyno_worker.adapters.{adapter}")

def built(asked):
    return adapter.build(job_for(asked["wire"])._replace(execution={execution!r}, threads=2))

def parent(name):
    try:
        return int(open("/proc/%s/stat" % name).read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None  # it has just ended

def alive():
    parents = [parent(name) for name in os.listdir("/proc") if name.isdigit()]
    return parents.count(os.getpid()), len(os.listdir("/proc/self/task"))

said = {{}}
for asked in json.load(open("asked.json")):
    trainer = built(asked)
    pipeline = trainer.pipeline(Files(**asked["files"]))
    images, labels, error = [], [], None
    try:
        for _ in range(asked["batches"]):
            pipeline.feed()
            images.append(trainer.read("outputs")["seen"])
            labels.append(trainer.read("gradients")["train/bias"].argmin(axis=1))
        trainer.step()
        trainer.wait()
        pipeline.skip()
    except ValueError as found:
        error = str(found)
    pipeline.close()
    said[asked["name"]] = {{"error": error, "notes": pipeline.notes, "seconds": pipeline.seconds()}}
    np.savez(asked["name"] + ".npz", images=images, labels=labels)

asked, counts = json.load(open("asked.json"))[0], []
trainer = built(asked)
for _ in range(4):
    pipeline = trainer.pipeline(Files(**asked["files"]))
    pipeline.feed()
    pipeline.close()
    counts.append(alive())
said.update(alive=counts, adapter={adapter!r})
print(json.dumps(said))
"""


def _image(number):
    """Red tells the row, green the column, blue the number."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    planes = [STEEP * rows, STEEP * columns, np.full((SIDE, SIDE), APART * number)]
    file = io.BytesIO()
    Image.fromarray(np.stack(planes, axis=2).astype(np.uint8)).save(file, "JPEG", quality=95, subsampling=0)
    return Item(name=f"{number}.jpg", label=number % len(CLASSES), encoded=file.getvalue())


def _grey(number):
    rows, columns = np.mgrid[0:GREY, 0:GREY]
    pixels = (STEEP * rows + 2 * columns + number).astype(np.uint8)[:, :, None]
    return Item(name=str(number), label=number % len(CLASSES), pixels=pixels)


def _damaged(item):
    """A JPEG whose code tables make no sense, though it has its marks and an end."""
    at = item.encoded.index(b"\xff\xc4") + 5
    return replace(item, encoded=item.encoded[:at] + b"\xff" * 16 + item.encoded[at + 16 :])


def _network(channels, side):
    """It shows its images, and the gradient of a bias for each image shows their labels."""
    sketch = Sketch()
    shape = [BATCH, channels, side, side]
    sketch.input("images", shape)
    sketch.input("labels", [BATCH], 0, len(CLASSES), "integers")
    sketch.parameter("weight", [len(CLASSES), channels * side * side], -0.01, 0.01)
    sketch.parameter("bias", [BATCH, len(CLASSES)], 0.0, 0.0)
    sketch.node("seen", "scale", ["images"], shape, factor=1.0)
    sketch.node("flat", "flatten", ["seen"], [BATCH, channels * side * side])
    sketch.node("products", "linear", ["flat", "weight"], [BATCH, len(CLASSES)])
    sketch.node("logits", "add", ["products", "bias"], [BATCH, len(CLASSES)])
    sketch.node("loss", "softmax_cross_entropy", ["logits", "labels"], [])
    sketch.update("loss", {**SGD, "learning_rate": 0.0})
    return sketch.wire("seen")


COLOURED = [_image(number) for number in range(COUNT)]
CASES = {  # images, transforms, the side of what a network is given
    "whole": (COLOURED, whole, SIDE),
    "grey": ([_grey(number) for number in range(COUNT)], grey, GREY),
    "cropped": (COLOURED, cropped, cropped["crop"]),
    "resized": (COLOURED, resized, resized["crop"]),
    "damaged": ([*COLOURED[:20], _damaged(COLOURED[20]), *COLOURED[21:]], whole, SIDE),
}


def _asked(spec, folder, name):
    items, transforms, side = CASES[name]
    root = folder / name
    writer = FORMATS[spec.native_format].create(root, "train", About(count=COUNT, classes=CLASSES))
    writer.write(items)
    writer.finish()
    files = {"format": spec.native_format, "root": str(root), "split": "train", "transforms": transforms}
    files |= {"threads": 2, "count": COUNT, "classes": len(CLASSES), "seed": 7}
    wire = _network(len(transforms["mean"]), side)
    return {"name": name, "wire": wire, "files": files, "batches": EPOCHS * COUNT // BATCH}


@pytest.fixture(scope="module", params=SPECS, ids=lambda spec: spec.name)
def told(request, tmp_path_factory):
    """(what the framework says, the folder in which it left batches)."""
    spec = request.param
    python = candidate_for(spec, spec.executions[0]).interpreter.path
    folder = tmp_path_factory.mktemp(spec.name)
    (folder / "asked.json").write_text(json.dumps([_asked(spec, folder, name) for name in CASES]))
    paths = [str(ROOT / "src"), str(ROOT / "tests" / "worker")]
    done = subprocess.run(
        [str(python), "-c", SCRIPT.format(paths=paths, adapter=spec.adapter, execution=spec.executions[0])],
        cwd=folder,
        env={**os.environ, **spec.variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), folder


def _batches(told, name):
    """(images as levels of 0 to 255, height × width × channels, labels), epoch by epoch."""
    said, folder = told
    assert said[name]["error"] is None
    rule = CASES[name][1]
    with np.load(folder / f"{name}.npz") as found:
        levels = (
            found["images"] * np.array(rule["std"])[:, None, None] + np.array(rule["mean"])[:, None, None]
        ) * 255
        images = np.moveaxis(levels, 2, 4).reshape(EPOCHS, COUNT, *levels.shape[3:], -1)
        return images, found["labels"].reshape(EPOCHS, COUNT)


def _numbers(images):
    return np.rint(images[..., 2].mean(axis=(2, 3)) / APART).astype(int)


def test_an_epoch_has_each_image_once_with_its_label_and_the_next_epoch_follows_in_another_order(told):
    images, labels = _batches(told, "whole")
    numbers = _numbers(images)
    np.testing.assert_array_equal(np.sort(numbers, axis=1), [range(COUNT)] * EPOCHS)
    np.testing.assert_array_equal(labels, numbers % len(CLASSES))
    assert (numbers[0] != numbers[1]).any()
    assert (numbers[0] != range(COUNT)).any()


def test_images_are_those_of_the_files(told):
    images, _ = _batches(told, "whole")
    files = np.array([np.asarray(Image.open(io.BytesIO(item.encoded))) for item in COLOURED], float)
    assert np.abs(images - files[_numbers(images)]).max() <= LEVELS


def test_grey_images_are_exactly_those_of_the_files(told):
    images, labels = _batches(told, "grey")
    files = np.array([item.pixels for item in CASES["grey"][0]], float)
    numbers = np.rint(images[:, :, 0, 0, 0]).astype(int)
    np.testing.assert_array_equal(np.sort(numbers, axis=1), [range(COUNT)] * EPOCHS)
    np.testing.assert_array_equal(labels, numbers % len(CLASSES))
    np.testing.assert_allclose(images, files[numbers], atol=0.01)


def test_crops_lie_anywhere_in_the_padded_image_and_half_of_them_are_flipped(told):
    images, labels = _batches(told, "cropped")
    middle = images[:, :, 8:-8, 8:-8]  # never padding
    np.testing.assert_array_equal(labels, _numbers(middle) % len(CLASSES))
    middle = middle.reshape(-1, *middle.shape[2:])
    slopes = np.diff(middle[..., 1], axis=2).mean(axis=(1, 2))
    np.testing.assert_allclose(np.abs(slopes), STEEP, atol=0.1)
    assert 0.2 < (slopes > 0).mean() < 0.8
    tops = middle[:, 0, :, 0].mean(axis=1) / STEEP - 8
    assert tops.min() >= -4.5
    assert tops.max() <= 8.5
    assert len(np.unique(np.rint(tops))) > 5


def test_resized_crops_have_8_to_100_percent_of_the_area_and_hardly_any_distortion(told):
    images, labels = _batches(told, "resized")
    assert images.min() > -LEVELS
    assert images.max() < 255 + LEVELS
    np.testing.assert_array_equal(labels, _numbers(images) % len(CLASSES))
    flat = images.reshape(-1, *images.shape[2:])
    heights, widths = (
        np.diff(flat[:, 4:-4, 4:-4, channel], axis=axis).mean(axis=(1, 2)) * flat.shape[1] / STEEP
        for channel, axis in ((0, 1), (1, 2))
    )
    areas, aspects = np.abs(heights * widths) / SIDE**2, np.abs(widths) / heights
    assert areas.min() > 0.06
    assert areas.max() < 1.05
    assert areas.min() < 0.3
    assert areas.max() > 0.7
    assert aspects.min() > 0.68
    assert aspects.max() < 1.47
    assert 0.2 < (widths > 0).mean() < 0.8


def test_a_damaged_image_is_one_line_that_tells_where_it_lies(told):
    error = told[0]["damaged"]["error"]
    assert error is not None
    assert "\n" not in error
    assert "expected a JPEG or PNG" in error
    assert "20.jpg" in error or "train-00000-of-00001', record 20" in error


def test_closing_leaves_no_process_and_no_more_threads(told):
    children, threads = zip(*told[0]["alive"], strict=True)
    assert set(children) == {0}
    assert threads[3] - threads[1] <= 2 * KEPT.get(told[0]["adapter"], 0)


def test_a_pipeline_tells_its_order_and_who_decodes(told):
    said = told[0]["whole"]
    assert {"order", "decode"} <= said["notes"].keys()
    assert said["seconds"]["wait_s"] > 0
