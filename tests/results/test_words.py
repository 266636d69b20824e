"""An interval is written in one way everywhere: in percent, or with both ends where it is wide; one run has none."""

import pytest
from tests.results.samples import make_result

from netdyno.results.figure import Estimate
from netdyno.results.words import margin


def estimate(value: float, low: float | None, high: float | None, unit: str = "images/s") -> Estimate:
    return Estimate(value=value, low=low, high=high, unit=unit, better="more")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (estimate(100.0, 99.0, 101.0), "± 1.00 %"),
        (estimate(1000.0, 700.0, 1300.0), "± 30.00 %"),
        (estimate(1000.0, 690.0, 1310.0), "690 … 1,310"),
        (estimate(1599.0, 533.25, 3200.5), "533.2 … 3,200"),
        (estimate(-100.0, -101.0, -99.0), "± 1.00 %"),
        (estimate(0.0, 0.0, 4.0), "0 … 4"),
        (estimate(2.0**30, 2.0**28, 2.0**31, "bytes"), "256 … 2,048"),  # in MiB, as the value beside it
        (estimate(100.0, None, None), "one run"),
        (None, "–"),
    ],
)
def test_an_interval_over_thirty_percent_is_written_with_both_ends(found: Estimate | None, words: str) -> None:
    assert margin(found) == words


def test_one_run_has_no_interval_whatever_its_blocks_say() -> None:
    result = make_result([[0.1, 0.11, 0.09, 0.1, 0.105, 0.1, 0.102]])
    assert (result.figures["throughput"].low, result.figures["throughput"].high) == (None, None)
    assert margin(result.head) == "one run"
    assert make_result([[0.1, 0.11, 0.09]] * 2).figures["throughput"].low is not None
