"""Charts as files for papers and talks: SVG, PNG at 300 dpi, or PDF, as wide as one or two columns."""

from pathlib import Path
from xml.etree import ElementTree

from netdyno.errors import NetdynoError
from netdyno.files import replacing
from netdyno.report.charts.marks import Chart
from netdyno.report.charts.svg import render_svg

COLUMNS_IN = {1: 3.5, 2: 7.2}  # inches
DOTS_PER_INCH = 300
PIXELS_PER_INCH = 96  # CSS's
POINTS_PER_INCH = 72
ENDINGS = (".png", ".svg", ".pdf")


def write_chart(chart: Chart, path: Path, *, columns: int = 1) -> None:
    """Write a file in the format of the path's suffix."""
    if columns not in COLUMNS_IN:
        raise NetdynoError(f"columns: expected 1 or 2, received {columns}.")
    if path.suffix not in ENDINGS:
        raise NetdynoError(f"{path}: expected a name that ends in {', '.join(ENDINGS)}, received '{path.suffix}'.")
    svg = render_svg(chart, width=COLUMNS_IN[columns] * PIXELS_PER_INCH, themed=False)
    data = svg.encode("utf-8", "replace") if path.suffix == ".svg" else _converted(svg, path.suffix)
    with replacing(path, "Name another folder with --charts.") as file:
        file.write(data)


def _converted(svg: str, ending: str) -> bytes:
    try:
        import vl_convert
    except ImportError as missing:
        raise NetdynoError(
            "charts: expected vl-convert for PNG and PDF, received an installation without it.",
            hint="Try: pip install 'netdyno[report]'; SVG needs nothing.",
        ) from missing
    if ending == ".pdf":
        return vl_convert.svg_to_pdf(_in_points(svg))
    return vl_convert.svg_to_png(_in_points(svg), ppi=DOTS_PER_INCH)


def _in_points(svg: str) -> str:
    """The same picture for a converter that takes a pixel for a point."""
    root = ElementTree.fromstring(svg)
    for name in ("width", "height"):
        root.set(name, f"{float(root.get(name, '0')) * POINTS_PER_INCH / PIXELS_PER_INCH:g}")
    return ElementTree.tostring(root, encoding="unicode")
