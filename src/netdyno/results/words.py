"""How a figure is written for people, in every table and chart alike."""

from netdyno.results.figure import Estimate

DASH = "–"


def number(value: float | None) -> str:
    """Four significant digits at most, thousands set apart."""
    if value is None:
        return DASH
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def margin(estimate: Estimate | None) -> str:
    """Half the interval in percent of the value, or a dash; `--json` has both ends."""
    if estimate is None or estimate.low is None or estimate.high is None or not estimate.value:
        return DASH
    return f"± {50 * (estimate.high - estimate.low) / estimate.value:.2f} %"
