"""What is known of a network on a dataset: recipe, source and size, how it is trained and how it is proved."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from netdyno.zoo.builder import Net, Value
from netdyno.zoo.datasets import Dataset

Recipe = Callable[[Net, Value], Value]  # (net, images) -> logits

# What an entry is for. A verification of the whole zoo proves the images; the others are proved when asked for.
IMAGES, VECTORS, INSTRUMENT = "images", "vectors", "instrument"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A network on a dataset. `parameters` and `macs` (forward, one image) are of the full `image_size`.

    `batch`, `learning_rate` and `steps` are those of the 2018 thesis or of the entry's source. A proof of equality
    only needs every layer to be there: `verify_size` is its smaller image, and `verify_width` the length of its
    vectors, with as many classes at most, where it is these that make the network large.
    """

    network: str
    dataset: Dataset
    build: Recipe
    source: str
    parameters: int
    macs: int
    batch: int
    learning_rate: float
    image_size: int
    verify_size: int
    verify_width: int | None = None
    family: str = IMAGES
    steps: int = 300
    note: str = ""


def reduced(entry: Entry) -> Entry:
    """The entry as a proof takes it: every layer, on smaller images or shorter vectors."""
    data, width = entry.dataset, entry.verify_width
    if width is not None:
        data = replace(data, channels=width, classes=min(width, data.classes))
    return replace(entry, image_size=entry.verify_size, dataset=data)
