"""What cells with real data are fed: which files, how their images are transformed, by how many threads."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from netdyno.data.packing import PACKED, Progress, Ready, make_ready
from netdyno.errors import NetdynoError
from netdyno.frameworks.spec import find_spec
from netdyno.harness.customary import customary_transforms
from netdyno.harness.request import SEED
from netdyno.harness.train_request import Transforms
from netdyno.results.cell import Cell
from netdyno.zoo.catalog import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Food:
    """A dataset in one format, ready to be learned."""

    ready: Ready
    transforms: Transforms

    def for_request(self, cell: Cell) -> dict[str, Any]:
        """What a worker is told of it."""
        packed = self.ready.format == PACKED
        resized = not packed and self.ready.about.shape is None and self.transforms.crop is not None
        transforms = {**asdict(self.transforms), "resized": resized}
        return {
            "format": self.ready.format,
            "root": str((self.ready.packed_file("train") if packed else self.ready.folder).resolve()),
            "split": "train",
            "transforms": transforms,
            "threads": cell.threads,
            "count": self.ready.about.count,
            "classes": len(self.ready.about.classes),
            "seed": SEED,
        }


Larder = Mapping[tuple[str, str, str], Food]
"""By the key of a cell."""


def larder_key(cell: Cell) -> tuple[str, str, str]:
    """Network, dataset and format: two networks may look at windows of different size."""
    return cell.network, cell.dataset, format_of(cell)


def stock(cells: Iterable[Cell], entry_of: Callable[[Cell], Entry], home: Path, progress: Progress) -> Larder:
    """Everything that the cells want and that is not drawn on the device, made ready now."""
    fed = {larder_key(cell): cell for cell in cells if cell.data != "synthetic"}
    places = sorted({(dataset, format_name) for _, dataset, format_name in fed})
    ready = {place: make_ready(home, *place, progress) for place in places}
    return {key: food_of(entry_of(cell), ready[key[1:]]) for key, cell in fed.items()}


def food_of(entry: Entry, ready: Ready) -> Food:
    """With what is customarily done to such images; refused if they are not what the network looks at."""
    channels, size, _ = entry.items.shape
    shape = ready.about.shape
    if shape is not None and (shape[2] != channels or min(shape[:2]) < size):
        raise NetdynoError(
            f"{ready.source}: expected images of at least {size}×{size}×{channels},"
            f" received {'×'.join(map(str, shape))}.",
            hint="See: netdyno datasets",
        )
    transforms = customary_transforms(entry.items, ready.source, shape[0] if shape else 0)
    return Food(ready=ready, transforms=transforms if shape else replace(transforms, pad=0))


def format_of(cell: Cell) -> str:
    """The format that a cell's data lies in."""
    if cell.data == PACKED:
        return PACKED
    spec = find_spec(cell.framework)
    if not spec.native_format:
        raise NetdynoError(
            f"{spec.name} has no data '{cell.data}': it brings no input pipeline of its own.",
            hint="Use --data packed.",
        )
    return spec.native_format
