"""How a figure is written for people, in every table and chart alike."""

from netdyno.results.result import Result

DASH = "–"


def number(value: float | None) -> str:
    """Four significant digits at most, thousands set apart."""
    if value is None:
        return DASH
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def margin(result: Result) -> str:
    """Half the interval in percent of the speed, or a dash; `--json` has both ends."""
    if result.images_per_s is None or result.low is None or result.high is None:
        return DASH
    return f"± {50 * (result.high - result.low) / result.images_per_s:.2f} %"
