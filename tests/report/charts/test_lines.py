"""Lines: names that do not overlap, round ticks, bands, goals and steps."""

import itertools
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdyno.report.charts import Line, Point, Step, history_chart, learning_chart, render_svg, scaling_chart
from netdyno.report.charts.axes import decade_axis, doubling_axis, linear_axis, time_axis
from netdyno.report.charts.palette import look
from netdyno.report.charts.strokes import NAME_STEP, _spread

SVG = "{http://www.w3.org/2000/svg}"
START = datetime(2026, 5, 1, tzinfo=UTC)


def _line(framework, values, **changes):
    points = tuple(Point(x=2**index, value=value) for index, value in enumerate(values))
    return Line(framework=framework, points=points, **changes)


def _drawn(chart):
    return ElementTree.fromstring(render_svg(chart, width=460))


def _texts(svg):
    return [text.text for text in svg.iter(f"{SVG}text")]


def _scaling(*lines):
    return _drawn(scaling_chart(lines, title="Threads", x_axis="threads", y_axis="images/s"))


@given(st.lists(st.floats(0, 220), max_size=15).map(sorted))
def test_names_keep_their_order_and_their_distance_and_stay_inside(wanted):
    places = _spread(wanted, 220)
    assert len(places) == len(wanted)
    assert all(b - a >= NAME_STEP - 1e-6 for a, b in itertools.pairwise(places))
    assert all(-1e-6 <= place <= 220 + 1e-6 for place in places)


def test_names_with_room_stay_where_their_lines_end():
    assert _spread([10.0, 100.0, 150.0], 220) == [10.0, 100.0, 150.0]


def test_names_that_would_overlap_move_to_both_sides():
    assert _spread([100.0, 100.0], 220) == [100 - NAME_STEP / 2, 100 + NAME_STEP / 2]


@given(st.floats(1e-9, 1e12))
def test_a_linear_axis_has_a_few_round_ticks_inside(high):
    axis = linear_axis("", 0.0, high)
    assert 3 <= len(axis.ticks) <= 8
    assert all(-1e-9 <= axis.share(value) <= 1 + 1e-9 for value, _ in axis.ticks)
    assert len({text for _, text in axis.ticks}) == len(axis.ticks)


@pytest.mark.parametrize(
    ("high", "texts"),
    [
        (1000.0, ["0", "200", "400", "600", "800", "1,000"]),
        (65_000.0, ["0", "20k", "40k", "60k"]),
        (0.0031, ["0", "0.001", "0.002", "0.003"]),
    ],
)
def test_ticks_are_written_as_people_write_them(high, texts):
    assert [text for _, text in linear_axis("", 0.0, high).ticks] == texts


@given(st.floats(1e-6, 1e6), st.floats(1, 1e9))
def test_decades_enclose_what_they_show(low, factor):
    axis = decade_axis("", low, low * factor)
    assert axis.low <= low * (1 + 1e-9)
    assert axis.high >= low * factor * (1 - 1e-9)


def test_doublings_are_equally_far_from_each_other():
    axis = doubling_axis("threads", [1, 2, 4, 8])
    assert [axis.share(value) for value, _ in axis.ticks] == pytest.approx([0, 1 / 3, 2 / 3, 1])


@pytest.mark.parametrize(
    ("days", "texts"),
    [
        (0.9, ["1 May", "06:00", "12:00", "18:00"]),
        (5, ["1 May", "2 May", "3 May", "4 May", "5 May", "6 May"]),
        (120, ["May 2026", "Jun 2026", "Jul 2026", "Aug 2026"]),
        (1500, ["Jan 2027", "Jan 2028", "Jan 2029", "Jan 2030"]),
    ],
)
def test_time_has_round_ticks(days, texts):
    axis = time_axis(START.timestamp(), (START + timedelta(days=days)).timestamp())
    assert [text for _, text in axis.ticks] == texts


def test_a_line_is_named_where_it_ends():
    svg = _scaling(_line("jax", [100, 190, 350]), _line("pytorch-2", [90, 95, 98]))
    names = {text.text: float(text.get("y")) for text in svg.iter(f"{SVG}text")}
    assert names[look("jax").name] < names[look("pytorch-2").name]


def test_sixteen_lines_have_sixteen_names_that_do_not_overlap():
    frameworks = [f"framework {index}" for index in range(16)]
    svg = _scaling(*(_line(name, [100, 200.0]) for name in frameworks))
    places = sorted(float(text.get("y")) for text in svg.iter(f"{SVG}text") if text.text in frameworks)
    assert len(places) == 16
    assert all(b - a >= NAME_STEP - 0.2 for a, b in itertools.pairwise(places))


def test_several_seeds_of_a_framework_share_one_name():
    svg = _drawn(learning_chart([_line("jax", [0.5, 0.9]), _line("jax", [0.6, 0.91])], title="", goal=0.985))
    assert _texts(svg).count(look("jax").name) == 1
    assert "goal 98.5 %" in _texts(svg)


def test_old_versions_are_dashed_and_weak_points_hollow():
    weak = Line(framework="pytorch-1.0", points=(Point(x=1, value=1.0, note="one run"), Point(x=2, value=2.0)))
    svg = _scaling(weak, _line("pytorch-2", [1, 2]))
    strokes = {
        p.get("stroke"): p.get("stroke-dasharray") for p in svg.iter(f"{SVG}path") if p.get("stroke-width") == "1.8"
    }
    assert strokes[f"var({look('pytorch-1.0').css})"] == "5 3"
    assert strokes[f"var({look('pytorch-2').css})"] is None
    hollow = [dot for dot in svg.iter(f"{SVG}circle") if dot.get("fill") == "var(--chart-page)"]
    assert ["one run" in dot.find(f"{SVG}title").text for dot in hollow] == [True]


def test_a_band_is_drawn_where_there_are_intervals():
    points = tuple(Point(x=x, value=x, low=0.9 * x, high=1.1 * x) for x in (1.0, 2.0))
    filled = lambda svg: [p for p in svg.iter(f"{SVG}path") if p.get("fill") != "none"]  # noqa: E731
    assert len(filled(_scaling(Line(framework="jax", points=points)))) == 1
    assert not filled(_scaling(_line("jax", [1, 2])))


def test_a_history_marks_its_steps_and_says_that_it_does_not_start_at_zero():
    points = tuple(Point(x=(START + timedelta(days=d)).timestamp(), value=1000.0 - 50 * (d > 20)) for d in range(40))
    step = Step(at=START + timedelta(days=21), note="−5.0 %: driver 580 → 590")
    svg = _drawn(history_chart(Line(framework="jax", points=points), [step], title="History", y_axis="images/s"))
    assert "−5.0 %: driver 580 → 590" in _texts(svg)
    assert "images/s, not from zero" in _texts(svg)
    assert len([p for p in svg.iter(f"{SVG}path") if p.get("stroke-dasharray") == "2 3"]) == 1


def test_one_point_and_no_point_are_charts_too():
    assert look("jax").name in _texts(_scaling(_line("jax", [5.0])))
    assert _texts(_scaling()) == ["nothing measured"]
    assert _texts(_scaling(Line(framework="jax", points=()))) == ["nothing measured"]
    one = Line(framework="jax", points=(Point(x=START.timestamp(), value=5.0),))
    assert look("jax").name in _texts(_drawn(history_chart(one, [], title="", y_axis="images/s")))
