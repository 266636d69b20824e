"""Do the frameworks' own pipelines give a set's images and labels, transformed as they were asked to?

Where a pipeline notes that it cannot do what is asked, it must do what it notes.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.parity.conftest import candidate_for, proved_specs
from tests.parity.pipeline_scripts import (
    CLOSE,
    FEED,
    FEED_DAMAGED,
    LACKING_DATABASES,
    LACKING_LIBRARIES,
    LACKING_OPENCV,
    LACKING_PILLOW,
    OPEN,
    PREAMBLE,
)
from tests.parity.pipeline_sets import (
    APART,
    CASES,
    CLASSES,
    COLOURED,
    COUNT,
    CROP,
    EPOCHS,
    GREYS,
    PAD,
    PLAIN,
    SIDE,
    STEEP,
    asked,
    decoded,
)

ROOT = Path(__file__).parents[2]
SPECS = [spec for spec in proved_specs() if spec.native_format]
REFUSING = [spec for spec in proved_specs() if spec.native_format != "tfrecord"]  # whose reader lacks nothing
LEVELS = 2.0  # that decoders may differ by
KEPT = {"tensorflow_1": 3}  # idle threads that a graph's operations have until its session ends
PLACES = {"folder": "/20.jpg", "tfrecord": "record 20", "recordio": "train.rec", "cntk_map": "00000020_20.jpg"}
LAST_WORDS = {  # of libraries that end the process when they cannot decode
    "caffe-1.0": "Could not decode datum",
    "mxnet-1.2": "input image size smaller than input shape",
}
LACKING = {  # by adapter or format: what is taken away, and what is said of it
    "caffe": (LACKING_DATABASES, "built without LMDB"),
    "cntk": (LACKING_LIBRARIES, "libnone.so.0"),
    "mxnet": (LACKING_OPENCV, "built without OpenCV"),
    "folder": (LACKING_PILLOW, "Pillow, which is missing"),
}


@pytest.fixture(scope="module", params=SPECS, ids=lambda spec: spec.name)
def written(request, tmp_path_factory):
    """(a framework, the folder with its files and with what it is asked)."""
    candidate_for(request.param, request.param.executions[0])
    folder = tmp_path_factory.mktemp(request.param.name)
    (folder / "asked.json").write_text(
        json.dumps([asked(request.param.native_format, folder, name) for name in CASES])
    )
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
    assert np.abs(images - decoded(COLOURED)[_numbers(images)]).max() <= LEVELS


def test_grey_images_are_exactly_those_of_the_files(told):
    images, labels, _ = _fed(told, "grey")
    numbers = np.rint(images[:, 0, 0, 0]).astype(int)
    np.testing.assert_array_equal(np.sort(numbers.reshape(EPOCHS, COUNT), axis=1), [range(COUNT)] * EPOCHS)
    np.testing.assert_array_equal(labels, numbers % len(CLASSES))
    np.testing.assert_allclose(images[..., 0], decoded(GREYS)[numbers], atol=0.01)


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
    assert threads[-1] - threads[1] <= 2 * KEPT.get(written[0].adapter, 0)


def test_a_damaged_image_ends_the_run_with_one_line_that_tells_where_it_lies(written):
    done = _run(written, FEED_DAMAGED)
    if written[0].name in LAST_WORDS and done.returncode != 0:
        assert LAST_WORDS[written[0].name] in done.stderr
        return
    (error,) = _said(done)["error"].splitlines()
    assert "expected" in error
    assert PLACES[written[0].native_format] in error


@pytest.mark.parametrize("spec", REFUSING, ids=lambda spec: spec.name)
def test_a_framework_that_cannot_read_images_says_why_and_what_to_use(spec, tmp_path):
    lacking, reason = LACKING.get(spec.adapter) or LACKING.get(spec.native_format) or ("", "pipeline")
    (tmp_path / "asked.json").write_text(json.dumps([asked(spec.native_format or "folder", tmp_path, "whole")]))
    done = _run((spec, tmp_path), lacking + OPEN)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])["unsupported"]
    assert reason in said
    assert "use packed data" in said
