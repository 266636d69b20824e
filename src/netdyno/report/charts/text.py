"""How words and numbers fit into a chart, whose font is not known before it is shown."""

from math import isfinite

from netdyno.report.charts.marks import FONT_SIZE

_NARROW, _WIDE = frozenset("iljtfr.,:;'|!()[] "), frozenset("mwMWQOGD@%&—…×→")
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
THOUSANDS_FROM = 10_000


def width_of(text: str, size: float = FONT_SIZE) -> float:
    """The approximate width of a text in pixels in a common sans-serif font, rounded up."""
    units = sum(0.32 if c in _NARROW else 0.9 if c in _WIDE or ord(c) > 0x2E7F else 0.6 for c in text)
    return size * (units + 0.09 * sum(c.isupper() for c in text))


def fitted(text: str, pixels: float) -> str:
    """The text on one line, or its beginning and an ellipsis."""
    text = " ".join(text.split())
    if width_of(text) <= pixels:
        return text
    while text and width_of(text + "…") > pixels:
        text = text[:-1]
    return text.rstrip() + "…"


def known(*values: float | None) -> list[float]:
    """The finite numbers among the values."""
    return [value for value in values if value is not None and isfinite(value)]


def tick_text(value: float, largest: float) -> str:
    """Such as 20k on an axis with large numbers, otherwise all digits."""
    if largest >= THOUSANDS_FROM and value:
        factor, prefix = next((pair for pair in _PREFIXES if abs(value) >= pair[0]), (1.0, ""))
        return f"{value / factor:.4g}{prefix}"
    return f"{value:,.6g}" if abs(value) >= 1e-4 or not value else f"{value:.3g}"
