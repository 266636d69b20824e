"""How a figure is written for people, in every table and chart alike."""

from netdyno.results.figure import Estimate

DASH = "–"
ONE_RUN = "one run"  # in place of an interval
WIDEST = 30.0  # percent: an interval beyond is written with both ends
UNITS = {"bytes": ("MiB", 2.0**-20), "J": ("kJ", 1e-3)}  # stored unit → the one people read, and the factor


def number(value: float | None) -> str:
    """Four significant digits at most, thousands set apart."""
    if value is None:
        return DASH
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def display_unit(unit: str) -> tuple[str, float]:
    """The unit that people read in place of a stored one, and the factor."""
    return UNITS.get(unit, (unit, 1.0))


def margin(estimate: Estimate | None) -> str:
    """The interval of a figure, for the column beside it; `--json` has both ends."""
    if estimate is None:
        return DASH
    _, scale = display_unit(estimate.unit)
    low, high = (None if end is None else scale * end for end in (estimate.low, estimate.high))
    return interval(scale * estimate.value, low, high)


def interval(value: float, low: float | None, high: float | None) -> str:
    """Half of it in percent of the value; both ends where ± 150 % would say less. One run has none."""
    if low is None or high is None:
        return ONE_RUN
    if value and 50 * (high - low) <= WIDEST * abs(value):
        return f"± {50 * (high - low) / abs(value):.2f} %"
    return f"{number(low)} … {number(high)}"
