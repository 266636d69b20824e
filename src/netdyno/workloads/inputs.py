"""What cells with real data are fed: which files, how their images are transformed, by how many threads."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from netdyno.data.codecs.files import as_one_line
from netdyno.data.packing import PACKED, Progress, Ready, make_ready
from netdyno.data.rows.ready import ready_rows
from netdyno.data.rows.text import is_text, text_digest, text_rows
from netdyno.data.rows.trees import tree_rows
from netdyno.errors import NetdynoError
from netdyno.frameworks.spec import find_spec
from netdyno.protocol.request import Files, Transforms
from netdyno.results.cell import Cell
from netdyno.zoo.catalog import Entry
from netdyno.zoo.items import TOKENS, TREE, Items

# Mean and deviation of each channel over the training images, as published implementations use them.
STATISTICS: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "mnist": ((0.1307,), (0.3081,)),
    "fashion-mnist": ((0.2860,), (0.3530,)),
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
}
MIDDLE, QUARTER = 0.5, 0.25  # for sources that nobody has measured
PAD = 4  # around small colour images, from which windows of their own size are cut


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFiles:
    """A dataset in one format, ready to be learned, and what is done to its images."""

    ready: Ready
    transforms: Transforms

    def files(self, cell: Cell) -> Files:
        """The training split as a worker is given it."""
        packed = self.ready.format == PACKED
        resized = not packed and self.ready.about.shape is None and self.transforms.crop is not None
        return Files(
            format=self.ready.format,
            root=str((self.ready.packed_file("train") if packed else self.ready.folder).resolve()),
            split="train",
            transforms=msgspec.structs.replace(self.transforms, resized=resized),
            threads=cell.threads,
            count=self.ready.about.count,
            classes=len(self.ready.about.classes),
        )


Inputs = Mapping[tuple[str, ...], InputFiles]
"""By the key of a cell."""


def input_key(cell: Cell) -> tuple[str, ...]:
    """Network, source, format and options: two networks may look at windows of different size."""
    return cell.network, cell.source or cell.dataset, format_of(cell), cell.options_text()


def prepare_inputs(
    cells: Iterable[Cell],
    entry_of: Callable[[Cell], Entry],
    home: Path,
    progress: Progress,
) -> Inputs:
    """The files of every cell with real data, written where they are missing."""
    fed = {input_key(cell): cell for cell in cells if cell.data != "synthetic"}
    pictured = {key: cell for key, cell in fed.items() if entry_of(cell).items.kind not in (TOKENS, TREE)}
    places = sorted({(key[1], key[2]) for key in pictured})
    with as_one_line(home):
        ready = {place: make_ready(home, *place, progress) for place in places}
        rows = {key: row_files(entry_of(cell), cell, home) for key, cell in fed.items() if key not in pictured}
    return {key: input_files(entry_of(cell), ready[key[1], key[2]]) for key, cell in pictured.items()} | rows


def row_files(entry: Entry, cell: Cell, home: Path) -> InputFiles:
    """The rows that a network of tokens or trees reads, as many in one as its options say."""
    source, options = cell.source or cell.dataset, {**entry.options, **dict(cell.options)}
    if cell.data != PACKED:
        raise NetdynoError(f"{source}: expected --data packed, received --data {cell.data}.")
    if entry.items.kind == TREE:
        leaves = int(options["leaves"])
        ready = ready_rows(home, source, f"trees, version 1, {leaves} leaves", lambda: tree_rows(leaves))
    else:
        ready = _text(source, entry, int(options["words"]), int(options["steps"]), home)
    return InputFiles(ready=ready, transforms=Transforms(mean=(0.0,), std=(1.0,)))


def _text(source: str, entry: Entry, words: int, steps: int, home: Path) -> Ready:
    if not is_text(source):
        raise NetdynoError(
            f"{entry.network}: expected a text to read, received '{source}'.",
            hint="Use --dataset text:PATH, or bytes:PATH.",
        )
    made_of = f"{source.partition(':')[0]}, version 1, {text_digest(source)}, {words} words, {steps} steps"
    return ready_rows(home, source, made_of, lambda: text_rows(source, words=words, steps=steps))


def input_files(entry: Entry, ready: Ready) -> InputFiles:
    """With the usual transforms; refused if the images are not what the network looks at."""
    channels, size, _ = entry.items.shape
    shape = ready.about.shape
    if shape is not None and (shape[2] != channels or min(shape[:2]) < size):
        raise NetdynoError(
            f"{ready.source}: expected images of at least {size}×{size}×{channels},"
            f" received {'×'.join(map(str, shape))}.",
            hint="See: netdyno datasets",
        )
    transforms = usual_transforms(entry.items, ready.source, shape[0] if shape else 0)
    return InputFiles(ready=ready, transforms=transforms if shape else msgspec.structs.replace(transforms, pad=0))


def usual_transforms(items: Items, source: str, packed_size: int) -> Transforms:
    """Grey images are only scaled. Colour ones are also cropped and flipped: small ones from a padded border, larger
    ones from what was packed around the network's window. Pixels that a network makes have the range that it says."""
    channels, size, _ = items.shape
    if items.span:
        return _spread(items.span, channels)
    mean, std = STATISTICS.get(source, ((MIDDLE,) * channels, (QUARTER,) * channels))
    if channels == 1:
        return Transforms(mean=mean, std=std)
    if packed_size == size:
        return Transforms(mean=mean, std=std, crop=size, pad=PAD, flip=True)
    return Transforms(mean=mean, std=std, crop=size, flip=True)


def _spread(span: tuple[float, float], channels: int) -> Transforms:
    """Pixels of 0..1 over another range."""
    low, high = span
    return Transforms(mean=(-low / (high - low),) * channels, std=(1 / (high - low),) * channels)


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
