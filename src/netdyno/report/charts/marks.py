"""The parts of a chart: rectangles, lines, dots and words, at positions that stretch with its width.

A vertical position is in pixels from the top of the plot. A horizontal one is a share of the plot's width plus some
pixels, so that one description serves a phone, a page and a column of a paper.
"""

from dataclasses import dataclass

from netdyno.report.charts.palette import PAGE, Look

FONT_SIZE = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Colour:
    """A colour on paper, and its CSS expression on a page."""

    paper: str
    page: str


INK = Colour(paper="#1c1e22", page="currentColor")
BLANK = Colour(paper="#ffffff", page=f"var({PAGE})")  # the background of a chart


def colour_of(look: Look) -> Colour:
    """The framework's colour."""
    return Colour(paper=look.light, page=f"var({look.css})")


@dataclass(frozen=True, slots=True)
class Place:
    """A horizontal position: a share of the plot's width, plus pixels."""

    share: float
    pixels: float = 0.0

    def at(self, width: float) -> float:
        return self.share * width + self.pixels


LEFT, RIGHT = Place(0.0), Place(1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """A bar; a weak one is pale with a dashed outline. `words` are its tooltip."""

    start: Place
    end: Place
    top: float
    bottom: float
    colour: Colour
    weak: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One value; a weak one is hollow."""

    x: Place
    y: float
    colour: Colour
    radius: float = 3.3
    weak: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line through some points."""

    points: tuple[tuple[Place, float], ...]
    colour: Colour
    thick: float = 1.0
    opacity: float = 1.0
    dashes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A pale area inside some points."""

    points: tuple[tuple[Place, float], ...]
    colour: Colour


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A text whose vertical middle is at `y`; shortened where it would go beyond `until`."""

    x: Place
    y: float
    text: str
    anchor: str = "start"  # start, middle or end
    bold: bool = False
    italic: bool = False
    faint: bool = False
    clear: bool = False  # with a blank outline over the lines behind it
    until: Place | None = None
    size: int = FONT_SIZE


Mark = Rectangle | Dot | Stroke | Band | Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Marks in a plot with margins. Its width is chosen when it is drawn.

    `summary` is for readers who cannot see it. The title is left out where a page has a heading instead.
    """

    title: str
    summary: str
    marks: tuple[Mark, ...]
    height: float  # of the plot, as the room around it in pixels
    left: float
    right: float
    above: float = 0.0
    below: float = 0.0
