"""`netdyno train`: a tiny set is learned from the command line, told over seeds, and not learned twice."""

import json

import numpy as np
import pytest

from netdyno.data.formats import packed
from netdyno.data.item import About, Item

CLASSES = tuple("0123456789")


@pytest.fixture
def tiny_mnist(netdyno):
    """Bright squares whose place is the label, where a packed MNIST would lie."""
    folder = netdyno.home / "datasets" / "mnist" / "packed"
    folder.mkdir(parents=True)
    for split, count in (("train", 64), ("test", 20)):
        writer = packed.create(folder, split, About(count=count, classes=CLASSES, shape=(28, 28, 1)))
        writer.write([_item(index) for index in range(count)])
        writer.finish()
    return netdyno


def _item(index):
    label = index % 10
    pixels = np.full((28, 28, 1), index % 7, np.uint8)
    top, left = 5 * (label // 5) + 6, 5 * (label % 5) + 1
    pixels[top : top + 4, left : left + 4] = 250
    return Item(name=str(index), label=label, pixels=pixels)


COURSE = ("train", "--framework", "reference", "--batch", "16", "--steps", "3", "--evaluate-every", "2")


def test_a_course_tells_its_curve_over_seeds_and_is_not_taken_twice(tiny_mnist):
    done = tiny_mnist(*COURSE, "--seeds", "2", "--price-per-hour", "3600", "--json")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)
    assert (result["source"], result["goal"], result["data"]) == ("mnist", "steps=3", "packed")
    assert [[point["step"] for point in seed["curve"]] for seed in result["seeds"]] == [[2, 3], [2, 3]]
    accuracy = result["figures"]["accuracy"]
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    assert result["cost"]["value"] == pytest.approx(result["figures"]["wall_time"]["value"])
    losses = [seed["curve"][-1]["loss"] for seed in result["seeds"]]
    assert losses[0] != losses[1]  # other weights, another order
    again = tiny_mnist(*COURSE, "--seeds", "2", "--json")
    assert json.loads(again.stdout)[0]["seeds"] == result["seeds"]
    assert "seed" not in again.stderr


def test_an_accuracy_that_is_not_reached_is_told_and_ends_with_1(tiny_mnist):
    done = tiny_mnist(*COURSE, "--seeds", "1", "--until", "accuracy=1.0")
    assert done.returncode == 1
    assert "accuracy=1 within steps=3" in done.stdout
    assert "short of its goal" in done.stdout


def test_an_accuracy_that_is_reached_ends_a_course_early(tiny_mnist):
    done = tiny_mnist(*COURSE, "--seeds", "1", "--until", "accuracy=0.0001", "--json")
    assert done.returncode == 0, done.stderr
    (course,) = json.loads(done.stdout)[0]["seeds"]
    assert [point["step"] for point in course["curve"]] == [2]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--until", "loss=1"), "expected accuracy=X"),
        (("--until", "accuracy=2"), "expected accuracy=X"),
        (("--epochs", "1"), "expected --epochs or --steps, received both"),
        (("--seeds", "0"), "--seeds: expected a whole number over 0, received 0"),
        (("--source", "cifar10"), "cifar10 has no train split here"),
        (("--source", "mnits"), "mnist"),
        (("--batch", "65"), "expected at least a batch of 65 images, received 64"),
    ],
)
def test_a_mistake_is_one_line(tiny_mnist, flags, words):
    done = tiny_mnist(*COURSE, *flags)
    assert done.returncode in (1, 2)
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
