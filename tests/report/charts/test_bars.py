"""Charts: every figure is there and inside, weak and missing ones say so, and nothing in a name can do anything."""

import math
import re
from xml.etree import ElementTree

import pytest

from netdyno.report.charts import (
    Bar,
    Line,
    Point,
    bar_chart,
    learning_chart,
    render_svg,
    scaling_chart,
    then_and_now,
)
from netdyno.report.charts.palette import look

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "</svg><script>evil()</script><img src=x onerror=evil()>\"'&\x00\x1b\ud800 \u202e"
WIDTHS = (336, 460, 691)


def _bar(framework="pytorch-2", value=1000.0, **changes):
    return Bar(**{"group": "H200", "framework": framework, "value": value, **changes})


def _drawn(chart, width=460, themed=True):
    return ElementTree.fromstring(render_svg(chart, width=width, themed=themed))


def _bars(*bars, **options):
    return _drawn(bar_chart(bars, title="Speed", axis="images/s"), **options)


def _texts(svg):
    return [text.text for text in svg.iter(f"{SVG}text")]


def _rects(svg):
    return list(svg.iter(f"{SVG}rect"))


def test_every_figure_and_every_framework_is_written():
    texts = _texts(_bars(_bar(value=12345.6), _bar("jax", 0.5), _bar("jax", 7.25, group="CPU")))
    assert {"H200", "CPU", "12,346", "0.5", "7.25", look("jax").name, look("pytorch-2").name} <= set(texts)


def test_lengths_are_in_proportion_to_values():
    other, one = _rects(_bars(_bar("jax", 250.0), _bar("pytorch-2", 1000.0)))
    assert float(other.get("width")) == pytest.approx(4 * float(one.get("width")), rel=0.01)


def _names(svg, *frameworks):
    """These frameworks, from top to bottom."""
    shown = {look(name).name: name for name in frameworks}
    return [shown[text] for text in _texts(svg) if text in shown]


def test_the_best_bar_is_on_top_and_a_missing_one_below():
    bars = [_bar("caffe2", None, note="crashed"), _bar("jax", 5.0), _bar("pytorch-2", 9.0), _bar("theano", 7.0)]
    names = ("caffe2", "jax", "pytorch-2", "theano")
    assert _names(_bars(*bars), *names) == ["pytorch-2", "theano", "jax", "caffe2"]
    least = bar_chart(bars, title="Memory", axis="MiB", least_first=True)
    assert _names(_drawn(least), *names) == ["jax", "theano", "pytorch-2", "caffe2"]


def test_equal_bars_stand_in_the_same_order_whatever_the_order_of_results():
    bars = [_bar(name) for name in ("tensorflow-2", "jax", "pytorch-2")]
    assert _texts(_bars(*bars)) == _texts(_bars(*reversed(bars)))


def test_a_weak_figure_is_dashed_and_says_why_and_a_good_one_is_not():
    weak, good = _rects(_bars(_bar("jax", note="one run"), _bar("pytorch-2")))
    assert weak.get("stroke-dasharray")
    assert good.get("stroke-dasharray") is None
    assert "one run" in weak.find(f"{SVG}title").text
    assert "weak" not in good.find(f"{SVG}title").text


def test_the_mark_of_weakness_is_explained_only_where_it_is_used():
    assert "dashed: a weak measurement" in _texts(_bars(_bar(note="one run")))
    assert not any("weak" in text for text in _texts(_bars(_bar())))


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_a_hole_says_why_in_place_of_the_bar(value):
    svg = _bars(_bar("jax", value, note="out of memory"), _bar())
    assert "not measured: out of memory" in _texts(svg)
    assert len(_rects(svg)) == 1


def test_a_reason_longer_than_the_chart_is_cut_where_it_ends():
    long = next(
        text for text in _texts(_bars(_bar(value=None, note="out of memory " * 50))) if "not measured" in text
    )
    assert long.endswith("…")
    assert len(long) < 80


def test_a_chart_of_holes_has_no_axis_and_one_of_nothing_says_so():
    assert "images/s" not in _texts(_bars(_bar(value=None)))
    assert _texts(_bars()) == ["nothing measured"]


def test_values_too_far_apart_for_bars_are_dots_on_a_logarithmic_axis():
    svg = _bars(_bar(value=3.0), _bar("jax", 3000.0, note="one run"))
    assert not _rects(svg)
    first, second = (float(dot.get("cx")) for dot in svg.iter(f"{SVG}circle"))
    assert "images/s, logarithmic" in _texts(svg)
    assert "hollow: a weak measurement" in _texts(svg)
    assert first != second


def test_whiskers_reach_from_low_to_high():
    plain = _bars(_bar(value=100.0))
    with_whisker = _bars(_bar(value=100.0, low=80.0, high=120.0))
    paths = [
        p.get("d")
        for p in with_whisker.iter(f"{SVG}path")
        if p.get("stroke") == "currentColor" and not p.get("opacity")
    ]
    assert len(paths) == 3  # the span and two caps
    start, end = (float(x) for x in re.findall(r"[ML]([\d.]+),", paths[0]))
    assert start == pytest.approx(end * 80 / 120, abs=0.2)
    assert not [p for p in plain.iter(f"{SVG}path") if p.get("stroke") == "currentColor" and not p.get("opacity")]


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_of_any_values_stay_inside(width):
    svg = _bars(
        *(_bar(name, 10.0**power, high=1.3 * 10**power) for power, name in enumerate(("jax", "theano"))), width=width
    )
    left = float(
        re.search(r"translate\(([\d.]+)", render_svg(bar_chart([_bar()], title="", axis=""), width=width))[1]
    )
    assert float(svg.get("width")) == width
    for rect in _rects(svg):
        assert 0 <= float(rect.get("x")) <= float(rect.get("x")) + float(rect.get("width")) <= width - left


def test_a_value_of_zero_has_a_bar_to_point_at():
    svg = _bars(_bar(value=0.0), _bar("jax", 0.0))
    assert [float(rect.get("width")) for rect in _rects(svg)] == [1, 1]


def test_then_and_now_tells_the_ratio_in_its_heading():
    then, now = _bar("pytorch-1.0", 400.0, group="PyTorch"), _bar("pytorch-2", 1000.0, group="PyTorch")
    texts = _texts(_drawn(then_and_now([(then, now)], title="", axis="images/s")))
    assert "PyTorch: × 2.5" in texts
    assert texts.index(look("pytorch-1.0").name) < texts.index(look("pytorch-2").name)


def test_then_and_now_without_one_of_the_two_tells_no_ratio():
    then, now = _bar("pytorch-1.0", None, group="PyTorch", note="crashed"), _bar(group="PyTorch")
    texts = _texts(_drawn(then_and_now([(then, now)], title="", axis="images/s")))
    assert "PyTorch" in texts
    assert "not measured: crashed" in texts


def test_a_page_decides_on_colours_and_a_paper_has_its_own():
    chart = bar_chart([_bar(low=900.0, high=1100.0), _bar("a-stranger")], title="Speed", axis="images/s")
    page, paper = render_svg(chart, width=460), render_svg(chart, width=460, themed=False)
    assert not re.search(r"#[0-9a-f]{6}", page)
    assert f"var({look('pytorch-2').css})" in page
    assert "font-family" not in page
    assert "var(" not in paper
    assert "currentColor" not in paper
    assert look("pytorch-2").light in paper


def test_the_title_is_drawn_on_paper_and_told_to_a_page_for_who_cannot_see():
    chart = bar_chart([_bar(note="one run")], title="Speed of resnet50", axis="images/s")
    assert "Speed of resnet50" in _texts(_drawn(chart, themed=False))
    page = _drawn(chart)
    assert "Speed of resnet50" not in _texts(page)
    assert page.get("role") == "img"
    told = {part.get("id"): part.text for part in page if part.get("id")}
    assert told[page.get("aria-labelledby")] == "Speed of resnet50"
    assert f"{look('pytorch-2').name}, H200: 1,000; weak: one run" in told[page.get("aria-describedby")]


def test_ids_of_two_charts_differ():
    ids = [
        part.get("id")
        for title in ("Speed", "Memory")
        for part in _drawn(bar_chart([_bar()], title=title, axis="x")).iter()
        if part.get("id")
    ]
    assert len(set(ids)) == len(ids) == 4


@pytest.mark.parametrize("themed", [True, False])
def test_nothing_in_a_name_or_a_reason_can_do_anything(themed):
    bars = [
        _bar(EVIL, 5.0, group=EVIL, note=EVIL, name=EVIL),
        _bar(EVIL, None, group=EVIL, note=EVIL),
    ]
    line = Line(framework=EVIL, points=(Point(x=1, value=1.0, note=EVIL), Point(x=2, value=2.0)))
    for chart in (
        bar_chart(bars, title=EVIL, axis=EVIL),
        scaling_chart([line], title=EVIL, x_axis=EVIL, y_axis=EVIL),
        learning_chart([line], title=EVIL),
    ):
        svg = _drawn(chart, themed=themed)
        tags = {part.tag.removeprefix(SVG) for part in svg.iter()}
        names = {name for part in svg.iter() for name in part.attrib}
        assert tags <= {"svg", "g", "rect", "circle", "path", "text", "title", "desc"}
        assert not [name for name in names if name.startswith("on") or "href" in name]
        assert "url(" not in "".join(value for part in svg.iter() for value in part.attrib.values())


def test_a_chart_refers_to_nothing_outside():
    text = render_svg(bar_chart([_bar()], title="Speed", axis="images/s"), width=460)
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]
