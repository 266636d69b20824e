"""Drawn images: any of them alone, the same bytes everywhere, and there is something to learn that a line cannot."""

import hashlib
import itertools
import pickle

import numpy as np
import pytest

from netdyno.data.drawn import FIGURES, UNIT, Shapes, class_names
from netdyno.data.item import About
from netdyno.errors import NetdynoError


def _shapes(count=1000, classes=10, shape=(28, 28, 1), split="train", seed=0):
    about = About(count=count, classes=class_names(classes), shape=shape)
    return Shapes(about=about, split=split, seed=seed)


def _arrays(source):
    items = [source.item(index) for index in range(source.about.count)]
    images = np.stack([item.pixels for item in items]).reshape(len(items), -1).astype(np.float32) / 255
    return images, np.array([item.label for item in items])


def test_an_item_is_the_same_whenever_and_wherever_it_is_drawn():
    source = _shapes()
    late = pickle.loads(pickle.dumps(source)).item(777)  # noqa: S301
    for index in range(5):
        source.item(index)
    assert np.array_equal(late.pixels, source.item(777).pixels)
    assert late.label == source.item(777).label


def test_the_bytes_are_those_of_the_first_day():
    """Only integers are drawn and computed: another NumPy or another machine must come to the same digest."""
    digest = hashlib.sha256()
    for source in (_shapes(20), _shapes(20, 1000, (96, 96, 3), "test", seed=5)):
        for index in range(20):
            digest.update(source.item(index).pixels.tobytes() + bytes([source.item(index).label % 256]))
    assert digest.hexdigest()[:16] == "72f58b45a6bec41a"


def test_splits_and_seeds_draw_other_images():
    images = [_shapes(split="train"), _shapes(split="test"), _shapes(seed=1)]
    first = [source.item(3).pixels.tobytes() for source in images]
    assert len(set(first)) == 3


def test_no_two_images_are_alike_not_even_in_different_splits():
    sources = (_shapes(2000), _shapes(2000, split="test"), _shapes(2000, seed=1))
    images = [source.item(index).pixels.tobytes() for source in sources for index in range(2000)]
    assert len(set(images)) == len(images)


@pytest.mark.parametrize(("classes", "shape"), [(10, (28, 28, 1)), (10, (32, 32, 3)), (1000, (224, 224, 3))])
def test_every_dataset_s_shape_can_be_drawn(classes, shape):
    item = _shapes(10, classes, shape).item(9)
    assert item.pixels.shape == shape
    assert item.pixels.dtype == np.uint8
    assert 0 <= item.label < classes


def test_all_classes_occur_about_equally_often():
    labels = [_shapes().item(index).label for index in range(1000)]
    counts = np.bincount(labels, minlength=10)
    assert counts.min() > 70
    assert counts.max() < 130


def test_a_class_s_name_is_its_number_in_figures():
    assert class_names(10) == tuple(FIGURES)
    assert class_names(1000)[12] == "disc ring square"
    assert len(set(class_names(1000))) == 1000


def test_a_line_through_pixels_does_not_tell_the_classes():
    """Least squares on 3,000 images: better than guessing, far from what a small convolutional network reaches."""
    images, labels = _arrays(_shapes(3000))
    test_images, test_labels = _arrays(_shapes(500, split="test"))
    targets = np.eye(10)[labels]
    inside = images.T @ images + 30 * np.eye(images.shape[1])
    weights = np.linalg.solve(inside, images.T @ targets)
    accuracy = np.mean((test_images @ weights).argmax(1) == test_labels)
    assert accuracy < 0.6


def test_figures_laid_over_an_image_tell_its_class():
    """What position, size and brightness hide, trying all of them finds: there is something to learn."""
    images, labels = _arrays(_shapes(300))
    masks, figures = _every_figure_at_every_place()
    fits = abs((images - images.mean(1, keepdims=True)) @ masks.T)
    assert np.mean(figures[fits.argmax(1)] == labels) > 0.9


def _every_figure_at_every_place():
    masks, figures = [], []
    axis = np.arange(28)
    for size in range(14, 26):
        for top, left in itertools.product(range(29 - size), repeat=2):
            rows = (2 * (axis[:, None] - top) + 1 - size) * UNIT // size
            columns = (2 * (axis[None, :] - left) + 1 - size) * UNIT // size
            for number, figure in enumerate(FIGURES.values()):
                mask = figure(columns, rows).astype(np.float32).ravel()
                mask -= mask.mean()
                masks.append(mask / np.linalg.norm(mask))
                figures.append(number)
    return np.stack(masks), np.array(figures)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"shape": (28, 28, 2)}, "1 or 3 channels"),
        ({"shape": (12, 12, 3), "classes": 1000}, "room"),
        ({"split": "validation"}, "validation"),
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong, words):
    with pytest.raises(NetdynoError, match=words):
        _shapes(**wrong)


@pytest.mark.parametrize("index", [-1, 1000])
def test_an_item_that_is_not_there_is_refused(index):
    with pytest.raises(NetdynoError, match=f"received {index}"):
        _shapes().item(index)
