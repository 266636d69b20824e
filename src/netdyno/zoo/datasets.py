"""Which datasets the networks are trained on, as far as a network needs to know them."""

from dataclasses import dataclass

from netdyno.errors import unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Square images of `size` pixels with one of `classes` labels each."""

    name: str
    channels: int
    size: int
    classes: int
    training_images: int


MNIST = Dataset(name="mnist", channels=1, size=28, classes=10, training_images=60_000)
CIFAR10 = Dataset(name="cifar10", channels=3, size=32, classes=10, training_images=50_000)
IMAGENET = Dataset(name="imagenet", channels=3, size=224, classes=1000, training_images=1_281_167)


def datasets() -> tuple[Dataset, ...]:
    """Every dataset, from the smallest to the largest."""
    return (MNIST, CIFAR10, IMAGENET)


def find_dataset(name: str) -> Dataset:
    """The dataset of that name, or an error with the nearest name."""
    known = {dataset.name: dataset for dataset in datasets()}
    if name not in known:
        raise unknown("dataset", name, known)
    return known[name]
