"""Over threads and batches the best lines are drawn, under short names, and the others are counted."""

from tests.report.pages import runs_of
from tests.report.realistic import FOURTEEN, STEPS_S

from netdyno.report.charts.palette import look
from netdyno.report.page.growth import MOST_LINES, growth_charts, then_and_now_chart
from netdyno.report.page.rows import row_of
from netdyno.results.proof import Proved
from netdyno.results.result import results_of


def rows(*records):
    return [row_of(result, Proved(())) for group in records for result in results_of(group)]


def names(chart):
    """The lines' names as the chart's description has them."""
    return [part.partition(":")[0].strip() for part in chart.summary.partition("images/s. ")[2].split(";")]


def fourteen():
    """Each framework at two batches; the speeds have nothing to do with the alphabet."""
    return rows(*(
        runs_of(step_s * batch, framework=name, batch=batch, runs=2)
        for name, step_s in zip(FOURTEEN, STEPS_S, strict=True)
        for batch in (16, 32)
    ))  # fmt: skip


def test_of_fourteen_lines_the_best_ten_are_drawn_and_the_others_counted():
    ((title, chart, caption),) = growth_charts(fourteen(), "lenet on mnist")
    best = sorted(zip(STEPS_S, FOURTEEN, strict=True))[:MOST_LINES]
    assert title == "Speed over batch, images/s"
    assert names(chart) == [look(name).name for _, name in best]
    assert "The best 10 of 14; the table has the other 4 too." in caption


def test_a_line_names_its_execution_only_beside_another_of_its_framework():
    both = [
        runs_of(0.01 * batch / execution_speed, framework=name, execution=execution, batch=batch, runs=2)
        for name, execution, execution_speed in (
            ("jax", "compiled", 1),
            ("pytorch-2", "eager", 2),
            ("pytorch-2", "compiled", 3),
        )
        for batch in (16, 32)
    ]
    ((_, chart, _),) = growth_charts(rows(*both), "lenet on mnist")
    assert names(chart) == ["PyTorch 2, compiled", "PyTorch 2, eager", "JAX"]


def test_a_caption_names_data_that_are_not_synthetic():
    packed = [runs_of(0.01, framework="jax", batch=batch, data="packed", runs=2) for batch in (16, 32)]
    ((_, _, caption),) = growth_charts(rows(*packed), "lenet on mnist")
    assert "packed data" in caption


def test_then_and_now_is_in_order_of_batches_with_the_names_of_today():
    pairs = [
        runs_of(step_s, framework=name, batch=batch, runs=2)
        for name, step_s in (("pytorch-1.0", 0.03), ("pytorch-2", 0.01))
        for batch in (128, 16, 64)
    ]
    ((_, chart, _),) = then_and_now_chart(rows(*pairs), "lenet on mnist")
    order = [chart.summary.index(f"PyTorch 2 · batch {batch}") for batch in (16, 64, 128)]
    assert order == sorted(order)
