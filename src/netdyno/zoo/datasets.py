"""Which datasets the networks are trained on, as far as a network needs to know them."""

from dataclasses import dataclass

from netdyno.errors import unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Square images of `size` pixels with one of `classes` labels each.

    Size 1 is a vector: its features are the channels. Vectors are only ever drawn, so they have no training images.
    """

    name: str
    channels: int
    size: int
    classes: int
    training_images: int


MNIST = Dataset(name="mnist", channels=1, size=28, classes=10, training_images=60_000)
CIFAR10 = Dataset(name="cifar10", channels=3, size=32, classes=10, training_images=50_000)
IMAGENET = Dataset(name="imagenet", channels=3, size=224, classes=1000, training_images=1_281_167)
VECTORS512 = Dataset(name="vectors512", channels=512, size=1, classes=1000, training_images=0)
VECTORS1024 = Dataset(name="vectors1024", channels=1024, size=1, classes=16, training_images=0)
VECTORS4096 = Dataset(name="vectors4096", channels=4096, size=1, classes=16, training_images=0)
VECTORS26752 = Dataset(name="vectors26752", channels=26752, size=1, classes=26752, training_images=0)


def datasets() -> tuple[Dataset, ...]:
    """Images, then vectors, each from the smallest to the largest."""
    return (MNIST, CIFAR10, IMAGENET, VECTORS512, VECTORS1024, VECTORS4096, VECTORS26752)


def find_dataset(name: str) -> Dataset:
    """The dataset of that name, or an error with the nearest name."""
    known = {dataset.name: dataset for dataset in datasets()}
    if name not in known:
        raise unknown("dataset", name, known)
    return known[name]
