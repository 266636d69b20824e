"""How the scale of a loss changes under float16, whose small gradients would otherwise become zero."""

FIRST_SCALE = 2.0**10
GOOD_STEPS = 2000  # after this many finite steps the scale doubles


def next_scale(factor, good, finite, where):
    """(factor, good) after a step: half after a gradient that is not finite, twice after GOOD_STEPS finite ones.

    `good` counts the finite steps since the factor changed; `where(condition, one, other)` is the library's own.
    """
    good = where(finite, good + 1, 0)
    grown = good >= GOOD_STEPS
    return factor * where(finite, where(grown, 2.0, 1.0), 0.5), where(grown, 0, good)
