"""Chart files: as wide as a column, as fine as a printer, and clear about what cannot be written."""

import re
import struct
import sys
from xml.etree import ElementTree

import pytest

from netdyno.errors import NetdynoError
from netdyno.report.charts import Bar, bar_chart, write_chart


@pytest.fixture
def chart():
    return bar_chart(
        [Bar(group="H200", framework="jax", value=5.0, low=4.0, high=6.0)], title="Speed", axis="images/s"
    )


@pytest.mark.parametrize(("columns", "inches"), [(1, 3.5), (2, 7.2)])
def test_a_png_has_300_dots_an_inch_and_the_width_of_its_columns(chart, columns, inches, tmp_path):
    write_chart(chart, tmp_path / "chart.png", columns=columns)
    data = (tmp_path / "chart.png").read_bytes()
    assert struct.unpack(">I", data[16:20])[0] == pytest.approx(300 * inches, abs=1)
    place = data.index(b"pHYs") + 4
    per_metre, _, unit = struct.unpack(">IIB", data[place : place + 9])
    assert unit == 1
    assert per_metre * 0.0254 == pytest.approx(300, abs=0.5)


def test_an_svg_file_has_the_width_of_a_column_in_css_pixels(chart, tmp_path):
    write_chart(chart, tmp_path / "chart.svg")
    assert float(ElementTree.parse(tmp_path / "chart.svg").getroot().get("width")) == 3.5 * 96


def test_a_pdf_has_the_width_of_a_column_in_points(chart, tmp_path):
    write_chart(chart, tmp_path / "chart.pdf")
    data = (tmp_path / "chart.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert float(re.search(rb"/MediaBox ?\[0 0 ([\d.]+)", data)[1]) == pytest.approx(3.5 * 72, abs=0.5)


def test_another_ending_is_refused_with_the_known_ones(chart, tmp_path):
    with pytest.raises(NetdynoError, match=r"expected a name that ends in \.png, \.svg, \.pdf, received '\.gif'"):
        write_chart(chart, tmp_path / "chart.gif")


def test_three_columns_are_refused(chart, tmp_path):
    with pytest.raises(NetdynoError, match="expected 1 or 2, received 3"):
        write_chart(chart, tmp_path / "chart.png", columns=3)


def test_without_the_converter_there_is_one_line_with_what_to_install(chart, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(NetdynoError, match=r"pip install 'netdyno\[report\]'"):
        write_chart(chart, tmp_path / "chart.png")
    write_chart(chart, tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").stat().st_size > 500
