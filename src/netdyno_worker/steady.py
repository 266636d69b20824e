"""Are these samples steady, and how sure is their median? Small statistics without a library."""

import math


def median(values):
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2.0


def median_half_width(values):
    """Half the 95 % interval of the median, relative to it; infinite for fewer than six values.

    By order statistics, so that one slow block widens nothing: the ranks are those between which the
    true median lies with 95 % whatever the distribution.
    """
    count = len(values)
    if count < 6:
        return float("inf")
    ordered = sorted(values)
    low = max(int(math.floor(count / 2.0 - 0.98 * math.sqrt(count))), 0)
    high = count - 1 - low
    return (ordered[high] - ordered[low]) / 2.0 / median(values)


def is_steady(values, window, tolerance):
    """Do the two halves of the last `window` values have medians within `tolerance`, or within their spread?"""
    if len(values) < window:
        return False
    recent = list(values)[-window:]
    older, newer = recent[: window // 2], recent[window // 2 :]
    middle = median(recent)
    spread = median([abs(value - middle) for value in recent])
    return abs(median(newer) - median(older)) <= max(tolerance * middle, spread)
