"""What a dataset's rows are, as far as a network needs to know: their kind, shape, classes and how many there are."""

from dataclasses import dataclass, replace

from netdyno.errors import unknown
from netdyno.graph.model import Shape

IMAGE, VECTOR, TOKENS, TREE = "image", "vector", "tokens", "tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The rows of a dataset, each with one of `classes` labels.

    `item` names one row in figures: throughput is in images/s or samples/s. `shape` is of one row, without the batch:
    (channels, height, width) of images, (features,) of vectors. `count` is 0 for rows that are only ever drawn.
    `span` is the range that pixels are mapped to; without one they are centred by the dataset's statistics.
    """

    name: str
    item: str
    kind: str  # IMAGE, VECTOR, TOKENS, TREE or empty
    shape: Shape
    classes: int
    count: int
    span: tuple[float, float] | None = None

    def within(self, low: float, high: float) -> "Items":
        """The same images with pixels in a range: those that a network is to make."""
        return replace(self, span=(low, high))

    def of_size(self, side: int) -> "Items":
        """The same images, cut to squares of another side."""
        return replace(self, shape=(self.shape[0], side, side))

    def of_width(self, features: int) -> "Items":
        """The same vectors, shortened, with at most as many classes."""
        return replace(self, shape=(features,), classes=min(features, self.classes))


def _images(name: str, shape: Shape, classes: int, count: int) -> Items:
    return Items(name=name, item="image", kind=IMAGE, shape=shape, classes=classes, count=count)


def _vectors(features: int, classes: int) -> Items:
    return Items(name=f"vectors{features}", item="sample", kind=VECTOR, shape=(features,), classes=classes, count=0)


MNIST = _images("mnist", (1, 28, 28), 10, 60_000)
CIFAR10 = _images("cifar10", (3, 32, 32), 10, 50_000)
IMAGENET = _images("imagenet", (3, 224, 224), 1000, 1_281_167)
FACES64 = _images("faces64", (3, 64, 64), 1, 0)
TILES572 = _images("tiles572", (1, 572, 572), 2, 0)  # of microscope images, with a class for each pixel
VECTORS512 = _vectors(512, 1000)
VECTORS26752 = _vectors(26752, 26752)
# How many tokens there are in a row is the network's to say, how many different ones is its own choice too.
TEXT = Items(name="text", item="token", kind=TOKENS, shape=(), classes=10_000, count=0)
TREES = Items(name="trees", item="tree", kind=TREE, shape=(), classes=10, count=0)
# For networks that declare inputs of their own.
NONE = Items(name="none", item="sample", kind="", shape=(), classes=0, count=0)


def all_items() -> tuple[Items, ...]:
    """Images, then vectors, each from the smallest to the largest, then text, trees and none."""
    return (MNIST, CIFAR10, FACES64, IMAGENET, TILES572, VECTORS512, VECTORS26752, TEXT, TREES, NONE)


def find_items(name: str) -> Items:
    """The items of the dataset of that name, or an error with the nearest name."""
    known = {items.name: items for items in all_items()}
    if name not in known:
        raise unknown("dataset", name, known)
    return known[name]
