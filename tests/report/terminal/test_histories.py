"""A history reads well in 100 columns."""

import pytest
from rich.console import Console
from tests.results.test_history import history_of, series_of

from netdyno.report.terminal.histories import history_parts, said, sparkline
from netdyno.results.history.series import History
from netdyno.results.record import Record


def printed(history: History) -> str:
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for part in history_parts(history):
        console.print(part)
    return console.export_text()


def stepped() -> list[Record]:
    return series_of(
        [100, 100.1, 99.9, 100, 90, 90.1, 89.9], versions=lambda s: {"numpy": "2.1" if s < 5 else "2.2", "lib": "1"}
    )


def test_a_history_has_a_line_for_each_series_and_what_changed_at_the_step() -> None:
    text = printed(history_of(stepped()))
    assert max(map(len, text.splitlines())) <= 100
    rows = [line for line in text.splitlines() if line.startswith("2026-11-")]
    assert len(rows) == 7
    assert "numpy 2.1, lib 1" in rows[0]
    assert "−10." in rows[4]
    assert "◆ numpy 2.1 → 2.2" in rows[4]
    assert "◆ series 5, 2026-11-05 10:00: −10." in text
    assert "    versions.numpy 2.1 → 2.2" in text
    assert text.rstrip().endswith("1 step in 7 series.")


def test_a_step_without_a_recorded_cause_says_so() -> None:
    assert "nothing recorded changed" in printed(history_of(series_of([100, 100.1, 99.9, 100, 90, 90.1, 89.9])))


def test_a_step_seen_in_the_newest_series_alone_asks_for_another() -> None:
    assert "one series so far" in printed(history_of(series_of([100, 100.1, 99.9, 100, 100.05, 80])))


def test_a_steady_history_says_which_step_it_could_have_seen() -> None:
    assert said(history_of(series_of([100, 100.1, 99.9, 100, 100.1, 99.9]))).startswith(
        "No step in 6 series. One of "
    )


@pytest.mark.parametrize(("count", "word"), [(1, "there is one series"), (2, "there are two series")])
def test_few_series_say_that_they_cannot_tell(count: int, word: str) -> None:
    assert f"Cannot tell steps from noise: {word}" in printed(history_of(series_of([100, 90][:count])))


def test_a_sparkline_follows_the_speeds() -> None:
    assert sparkline([1, 2, 3, 4, 5, 6, 7, 8]) == "▁▂▃▄▅▆▇█"
    assert sparkline([]) == ""


def test_a_sparkline_does_not_make_mountains_of_noise() -> None:
    assert set(sparkline([100, 100.1, 99.9])) <= set("▄▅")


def test_a_long_sparkline_is_thinned() -> None:
    assert len(sparkline([1.0, 2.0] * 500)) <= 60
