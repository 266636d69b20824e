"""What the page shows of networks that make pictures: a contact sheet, a strip of pictures for each framework."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netdyno.report.charts.palette import look
from netdyno.report.charts.png import png
from netdyno.report.terminal.tables import how
from netdyno.results.pictures import Pictures
from netdyno.results.record import Record
from netdyno.results.result import Result

GAP = 2  # pixels between pictures
WIDE = 900  # pixels: as wide as the page shows a strip
IMAGES = "test images"

FindPictures = Callable[[Sequence[str]], Mapping[str, Pictures]]
"""The pictures of runs by their ids, where a store has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """Pictures side by side, and whose they are; of test images `css` is empty."""

    name: str
    css: str
    how: str
    alt: str
    width: int  # pixels
    height: int
    source: str  # the image itself, as a data URI

    @property
    def is_enlarged(self) -> bool:
        """Whether a screen shows it larger than it is: then pixels stay squares."""
        return self.width < WIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Strips below each other, in words."""

    title: str
    caption: str
    strips: tuple[Strip, ...]


def sheet_of(results: Sequence[Result], find: FindPictures | None = None) -> Sheet | None:
    """The pictures of each result's newest run; none where no network makes pictures."""
    newest = [(result, max(result.measured, key=_started)) for result in results if result.measured]
    kept = find([run.id for _, run in newest]) if find else {}
    found = [(result, run, run.pictures or kept.get(run.id)) for result, run in newest]
    drawn = [(result, run, pictures) for result, run, pictures in found if pictures]
    if not drawn:
        return None
    sees_images = all(pictures.sees_images for _, _, pictures in drawn)
    strips, shown = [], b""
    for result, run, pictures in drawn:
        if pictures.images != shown:
            strips.append(_of_images(pictures))
            shown = pictures.images
        strips.append(_of_framework(result, run, pictures))
    return Sheet(
        title="Reconstructions" if sees_images else "Samples",
        caption=_RECONSTRUCTIONS if sees_images else _SAMPLES,
        strips=tuple(strips),
    )


def _started(run: Record) -> tuple[str, int]:
    return run.started_at, run.number


def _of_images(pictures: Pictures) -> Strip:
    return _strip(pictures, pictures.images, name=IMAGES, alt=f"The first {pictures.count} images of the test split.")


def _of_framework(result: Result, run: Record, pictures: Pictures) -> Strip:
    framework = look(result.cell.framework)
    what = "what it made of the test images above, in their order" if pictures.sees_images else "drawn by the network"
    alt = f"{framework.name}, seed {run.number}: {pictures.count} pictures, {what}."
    words = f"{how(result.cell)}, seed {run.number}"
    return _strip(pictures, pictures.made, name=framework.name, css=framework.css, how=words, alt=alt)


def _strip(pictures: Pictures, pixels: bytes, *, name: str, alt: str, css: str = "", how: str = "") -> Strip:
    image = side_by_side(pictures, pixels)
    source = f"data:image/png;base64,{base64.b64encode(png(image)).decode()}"
    return Strip(name=name, css=css, how=how, alt=alt, width=image.shape[1], height=image.shape[0], source=source)


def side_by_side(pictures: Pictures, pixels: bytes) -> NDArray[np.uint8]:
    """One image of all, with opacity as its last channel: what lies between pictures is transparent."""
    shape = (pictures.count, pictures.height, pictures.width, pictures.channels)
    each = np.frombuffer(pixels, np.uint8).reshape(shape)
    image = np.zeros((pictures.height, pictures.count, pictures.width + GAP, pictures.channels + 1), np.uint8)
    image[:, :, : pictures.width, :-1] = each.transpose(1, 0, 2, 3)
    image[:, :, : pictures.width, -1] = 255
    return image.reshape(pictures.height, -1, pictures.channels + 1)[:, :-GAP]


_RECONSTRUCTIONS = (
    "What each network, when it had learnt, made of the images in the first row: images of the test split, which it "
    "was not trained on. Where a network draws at random, another draw gives other pictures."
)
_SAMPLES = (
    "What each network drew when it had learnt, without seeing the images in the first row: those are of the test "
    "split, to compare with. What the network was given in their place is the same in every framework."
)
