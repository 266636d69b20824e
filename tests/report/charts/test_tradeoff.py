"""Error against cost as a chart: names beside points, intervals, and the side that a rule advises."""

from xml.etree import ElementTree

from netdyno.report.charts import render_svg
from netdyno.report.charts.marks import Stroke, Words
from netdyno.report.charts.tradeoff import Border, Trade, tradeoff_chart

AXES = ("cost", "error, %")
LINE = [
    Trade(label=f"{size}", name=f"{size}", framework="jax", cost=float(size), error=3 - n, low=2.8 - n, high=3.2 - n)
    for n, size in enumerate([100, 200, 400])
]


def _texts(chart):
    return {mark.text: mark for mark in chart.marks if isinstance(mark, Words)}


def test_every_point_has_its_name_and_the_picture_can_be_drawn():
    chart = tradeoff_chart([LINE], title="t", axes=AXES)
    assert {"100", "200", "400"} <= set(_texts(chart))
    assert "100, JAX: 3 (2.8 to 3.2) at 100" in chart.summary
    assert ElementTree.fromstring(render_svg(chart, width=400)).tag.endswith("svg")


def test_costs_far_apart_are_on_a_logarithmic_axis():
    assert any("logarithmic" in text for text in _texts(tradeoff_chart([LINE], title="t", axes=AXES)))
    near = [
        Trade(label="a", framework="jax", cost=1.0, error=1.0),
        Trade(label="b", framework="jax", cost=1.2, error=2),
    ]
    assert not any("logarithmic" in text for text in _texts(tradeoff_chart([near], title="t", axes=AXES)))


def test_the_border_has_its_words_on_the_side_that_is_advised():
    for is_least, text, anchor in ((True, "from 2 →", "start"), (False, "← from 2", "end")):
        border = Border(cost=200.0, text="from 2", is_least=is_least)
        words = _texts(tradeoff_chart([LINE], title="t", axes=AXES, border=border))[text]
        assert words.anchor == anchor
        assert abs(words.x.share - 0.5) < 1e-9  # halfway from 100 to 400 by ratio


def test_names_of_points_at_one_place_do_not_cover_each_other():
    points = [[Trade(label=name, name=name, framework="jax", cost=5.0, error=1.0)] for name in ("a", "b", "c")]
    found = sorted(_texts(tradeoff_chart(points, title="t", axes=AXES))[name].y for name in "abc")
    assert found[1] - found[0] >= 11
    assert found[2] - found[1] >= 11


def test_a_long_name_does_not_cover_the_next_one():
    costs = (("a network with a long name", 10.0), ("next", 20.0), ("far", 400.0))
    points = [[Trade(label=name, name=name, framework="jax", cost=cost, error=1.0)] for name, cost in costs]
    found = _texts(tradeoff_chart(points, title="t", axes=AXES))
    assert abs(found["next"].y - found["a network with a long name"].y) >= 11


def test_an_interval_wider_than_all_differences_is_cut_off():
    wide = [Trade(label="a", framework="jax", cost=1.0, error=8.0, low=0.01, high=12_000.0)]
    chart = tradeoff_chart([LINE, wide], title="t", axes=AXES)
    assert "12k" not in _texts(chart)
    assert all(
        -1e-6 <= y <= chart.height + 1e-6 for mark in chart.marks if isinstance(mark, Stroke) for _, y in mark.points
    )


def test_without_a_point_there_is_a_note():
    assert "nothing measured" in tradeoff_chart([], title="t", axes=AXES).summary


def test_a_single_training_has_no_line():
    strokes = [mark for mark in tradeoff_chart([LINE[:1]], title="t", axes=AXES).marks if isinstance(mark, Stroke)]
    assert not [stroke for stroke in strokes if stroke.opacity == 0.5]
