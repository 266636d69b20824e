"""A chart as SVG: in a page, with the page's colours and fonts; or alone, for a paper.

It is written without a library, since a chart is a few hundred plain shapes: that takes a millisecond and needs no
external resource. Every text is escaped, and characters that XML forbids are replaced.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from netdyno.report.charts.marks import (
    BLANK,
    FONT_SIZE,
    INK,
    Band,
    Chart,
    Colour,
    Dot,
    Mark,
    Place,
    Rectangle,
    Stroke,
    Words,
)
from netdyno.report.charts.text import fitted

EDGE = 8
TITLE_ROOM, TITLE_SIZE = 24, 13
NARROWEST = 40  # pixels of a plot
BASELINE = 0.35  # of the font size, below the middle of a line
FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_svg(chart: Chart, *, width: float, themed: bool = True) -> str:
    """The chart at this width in pixels. Themed: part of a page, with its colours and without a title."""
    title = "" if themed else chart.title
    top = EDGE + chart.above + (TITLE_ROOM if title else 0)
    pen = _Pen(width=max(NARROWEST, width - chart.left - chart.right), themed=themed)
    marks: list[Mark] = list(chart.marks)
    if title:
        start, end = Place(0.0, EDGE - chart.left), Place(1.0, chart.right)
        marks.append(Words(x=start, y=-chart.above - 16, text=title, bold=True, size=TITLE_SIZE, until=end))
    inside = f'<g transform="translate({_n(chart.left)},{_n(top)})">{"".join(map(pen.drawn, marks))}</g>'
    size = _n(width), _n(top + chart.height + chart.below + EDGE)
    return _of_page(chart, size, inside) if themed else _of_paper(size, inside)


def _of_page(chart: Chart, size: tuple[str, str], inside: str) -> str:
    mark = hashlib.sha256(f"{chart.title}{size}{inside}".encode(errors="replace")).hexdigest()[:10]
    title = chart.title or "chart"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-labelledby="t{mark}"'
        f' aria-describedby="d{mark}" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}"'
        f' font-size="{FONT_SIZE}" fill="currentColor" style="max-width:100%;font-variant-numeric:tabular-nums">'
        f'<title id="t{mark}">{_text(title)}</title><desc id="d{mark}">{_text(chart.summary)}</desc>{inside}</svg>'
    )


def _of_paper(size: tuple[str, str], inside: str) -> str:
    box = f'width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-size="{FONT_SIZE}"'
        f' font-family={quoteattr(FONTS)} fill="{INK.paper}">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{inside}</svg>\n'
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pen:
    """Draws marks into a plot of a given width, in the colours of a page or of paper."""

    width: float
    themed: bool

    def drawn(self, mark: Mark) -> str:
        match mark:
            case Rectangle():
                return self._rectangle(mark)
            case Dot():
                return self._dot(mark)
            case Stroke():
                return self._stroke(mark)
            case Band():
                return f'<path d="{self._path(mark.points)}Z" fill="{self._colour(mark.colour)}" opacity=".18"/>'
            case Words():
                return self._words(mark)

    def _rectangle(self, mark: Rectangle) -> str:
        start, end = mark.start.at(self.width), mark.end.at(self.width)
        colour = self._colour(mark.colour)
        style = (
            f' fill-opacity=".25" stroke="{colour}" stroke-width="1.2" stroke-dasharray="3 2"' if mark.weak else ""
        )
        where = f'x="{_n(start)}" y="{_n(mark.top)}" width="{_n(max(end - start, 1))}"'
        return (
            f'<rect {where} height="{_n(mark.bottom - mark.top)}" fill="{colour}"{style}>{_hint(mark.words)}</rect>'
        )

    def _dot(self, mark: Dot) -> str:
        colour = self._colour(mark.colour)
        inside = self._colour(BLANK) if mark.weak else colour
        where = f'cx="{_n(mark.x.at(self.width))}" cy="{_n(mark.y)}" r="{_n(mark.radius)}"'
        style = f'fill="{inside}" stroke="{colour}" stroke-width="1.5"' if mark.weak else f'fill="{inside}"'
        return f"<circle {where} {style}>{_hint(mark.words)}</circle>"

    def _stroke(self, mark: Stroke) -> str:
        thick = f' stroke-width="{_n(mark.thick)}"' if mark.thick != 1 else ""
        opacity = f' opacity="{mark.opacity:g}"' if mark.opacity != 1 else ""
        dashes = f' stroke-dasharray="{mark.dashes}"' if mark.dashes else ""
        style = f'fill="none" stroke="{self._colour(mark.colour)}"{thick}{opacity}{dashes}'
        return f'<path d="{self._path(mark.points)}" {style}/>'

    def _words(self, mark: Words) -> str:
        x, text = mark.x.at(self.width), mark.text
        if mark.until is not None:
            text = fitted(text, abs(mark.until.at(self.width) - x) * FONT_SIZE / mark.size)
        style = f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
        style += ' font-weight="bold"' if mark.bold else ""
        style += ' font-style="italic"' if mark.italic else ""
        style += ' opacity=".78"' if mark.faint else ""
        style += f' paint-order="stroke" stroke="{self._colour(BLANK)}" stroke-width="4"' if mark.clear else ""
        style += f' font-size="{mark.size}"' if mark.size != FONT_SIZE else ""
        return f'<text x="{_n(x)}" y="{_n(mark.y + BASELINE * mark.size)}"{style}>{_text(text)}</text>'

    def _path(self, points: Sequence[tuple[Place, float]]) -> str:
        return "M" + "L".join(f"{_n(x.at(self.width))},{_n(y)}" for x, y in points)

    def _colour(self, colour: Colour) -> str:
        return colour.page if self.themed else colour.paper


def _hint(words: str) -> str:
    """The tooltip of a shape."""
    return f"<title>{_text(words)}</title>" if words else ""


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))


def _n(value: float) -> str:
    """A tenth of a pixel is enough."""
    return f"{value:.1f}".removesuffix(".0")
