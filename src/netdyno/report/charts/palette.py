"""How a framework looks: its colour on light and dark pages, its usual name, its place in every order.

A family (the part of a framework's name before the first hyphen) has one hue, and its members are shades of it;
instruments and names without a spec are grey. Charts always write the name beside the colour, since people can
distinguish only about eight colours reliably.
"""

import os
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from netdyno.frameworks.spec import Spec, specs

LIGHT_PAGE, DARK_PAGE = "#ffffff", "#16181d"
PAGE = "--chart-page"  # the variable of a chart's background
LEAST_CONTRAST = 3.0  # WCAG 2.2, 1.4.11: graphical objects
_PALEST = 3.1  # contrast of the shade nearest to the page, with a margin for rounding to bytes
_ERAS = ("today", "last", "2018")  # from the full shade to the palest
# A hue on a light and on a dark page, in the order in which families take them. Found by a search that kept the hues
# apart for normal sight, protanopia, deuteranopia and tritanopia; the last ones are the least far from others.
_HUES = (
    ("#78393b", "#d54926"), ("#735708", "#e2bd88"), ("#420425", "#a96d89"), ("#0b4001", "#62ac74"),
    ("#3b4489", "#5576cb"), ("#6f0945", "#eb90af"), ("#3a7bb1", "#6bc0e8"), ("#6f48c0", "#b181fd"),
    ("#ae6310", "#fd7b08"), ("#086e6d", "#56f0db"), ("#5a8051", "#dbe54e"), ("#ad3fa6", "#cf85c8"),
    ("#4a6098", "#7f95c9"),
)  # fmt: skip
_GREYS = (
    ("#5f6368", "#a9adb3"), ("#74777c", "#8f949b"), ("#43464a", "#c3c7cc"), ("#85888c", "#7b8087"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """`css` names the variable that holds `light` or `dark`, whichever the page is."""

    name: str
    family: str
    era: str  # '2018', 'last', 'today'; empty for a name that no spec has
    order: int
    light: str
    dark: str
    css: str


def look(framework: str) -> Look:
    """How this framework is shown everywhere. A name without a spec always gets the same grey."""
    return _known().get(framework) or _without_spec(framework)


def css_variables() -> str:
    """Rules that give every `Look.css` its value, and PAGE that of the page's background.

    Dark where the reader's system is, unless <html data-theme> says `light` or `dark`; on paper always light.
    """
    every = [*_known().values(), *_greys()]
    light = ";".join([f"{PAGE}:{LIGHT_PAGE}", *(f"{each.css}:{each.light}" for each in every)])
    dark = ";".join([f"{PAGE}:{DARK_PAGE}", *(f"{each.css}:{each.dark}" for each in every)])
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )


def family(framework: str) -> str:
    """A framework's name without its version."""
    return framework.partition("-")[0]


def contrast(colour: str, other: str) -> float:
    """WCAG's ratio: 1 for the same luminance, 21 for black on white."""
    bright, dim = sorted((_luminance(colour), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _known() -> dict[str, Look]:
    return _looks(os.environ.get("NETDYNO_SPECS", ""))


@cache
def _looks(_folders: str) -> dict[str, Look]:
    """Every known framework, in order: families by name, in each the newest first; instruments last."""
    ordered = sorted(specs().values(), key=_rank)
    hues = dict(zip(_families(ordered), _HUES + _GREYS * len(ordered), strict=False))
    return {spec.name: _look(spec, order, _shade(spec, ordered, hues)) for order, spec in enumerate(ordered)}


def _look(spec: Spec, order: int, colours: tuple[str, str]) -> Look:
    return Look(
        name=spec.title,
        family=family(spec.name),
        era=spec.era,
        order=order,
        light=colours[0],
        dark=colours[1],
        css=f"--fw-{re.sub('[^a-z0-9]+', '-', spec.name)}",
    )


def _families(known: Iterable[Spec]) -> list[str]:
    """In the order in which hues are assigned: bundled with an adapter, bundled without, a user's, instruments.

    So a framework that a user adds does not change the others' colours.
    """
    folder = resources.files("netdyno.frameworks").joinpath("specs")
    ours = {file.name.removesuffix(".toml") for file in folder.iterdir()}
    ranks: dict[str, tuple[int, str]] = {}
    for spec in known:
        own = family(spec.name)
        place = 3 if spec.is_instrument else 2 if spec.name not in ours else 0 if spec.adapter else 1
        ranks[own] = min(ranks.get(own, (3, own)), (place, own))
    return sorted(ranks, key=ranks.__getitem__)


def _rank(spec: Spec) -> tuple[bool, str, int, str]:
    """Within a family the newest first, which gets the full shade."""
    return spec.is_instrument, family(spec.name), _ERAS.index(spec.era) if spec.era in _ERAS else 0, spec.name


def _shade(spec: Spec, ordered: Sequence[Spec], hues: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    if spec.is_instrument:
        instruments = [other.name for other in ordered if other.is_instrument]
        return _GREYS[instruments.index(spec.name) % len(_GREYS)]
    members = [other.name for other in ordered if family(other.name) == family(spec.name)]
    step = members.index(spec.name) / max(1, len(members) - 1)
    light, dark = hues[family(spec.name)]
    return _towards(light, LIGHT_PAGE, step), _towards(dark, DARK_PAGE, step)


def _towards(colour: str, page: str, step: float) -> str:
    """Nearer to the page: 0 is the colour itself, 1 the palest that still stands out."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if contrast(_mixed(colour, page, middle), page) > _PALEST else (low, middle)
    return _mixed(colour, page, step * low)


def _mixed(colour: str, other: str, share: float) -> str:
    pairs = zip(_bytes(colour), _bytes(other), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


def _luminance(colour: str) -> float:
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (b / 255 for b in _bytes(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _bytes(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def _without_spec(framework: str) -> Look:
    grey = _grey(zlib.crc32(framework.encode("utf-8", "replace")) % len(_GREYS))
    return replace(grey, name=framework, family=family(framework))


def _greys() -> list[Look]:
    return [_grey(index) for index in range(len(_GREYS))]


def _grey(index: int) -> Look:
    light, dark = _GREYS[index]
    return Look(name="", family="", era="", order=len(_known()), light=light, dark=dark, css=f"--fw-other-{index}")
