"""What attributes of operations must be."""

from typing import Any

from netdyno.graph import kinds
from netdyno.graph.op import Attribute, Check


def _is_int(value: Any, at_least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= at_least


def _ints(count: int, at_least: int) -> Check:
    return lambda value: (
        isinstance(value, (tuple, list)) and len(value) == count and all(_is_int(v, at_least) for v in value)
    )


def _number(holds: Check) -> Check:
    return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and holds(value)


SEED = Attribute(meaning="a whole number", holds=lambda value: _is_int(value, 0))
STRIDES = Attribute(meaning="two whole numbers over 0", holds=_ints(2, 1))
PADDING = Attribute(meaning="four whole numbers (top, bottom, left, right)", holds=_ints(4, 0))
COUNT = Attribute(meaning="a whole number over 0", holds=lambda value: _is_int(value, 1))
POSITIVE = Attribute(meaning="a number over 0", holds=_number(lambda value: value > 0))
ANY_NUMBER = Attribute(meaning="a number", holds=_number(lambda value: value == value))
RATE = Attribute(meaning="a number in [0, 1)", holds=_number(lambda value: 0 <= value < 1))
FRACTION = Attribute(meaning="a number in (0, 1]", holds=_number(lambda value: 0 < value <= 1))
ODD = Attribute(meaning="an odd whole number", holds=lambda value: _is_int(value, 1) and value % 2 == 1)
KIND = Attribute(meaning=f"a kind among {kinds.KINDS}", holds=lambda value: value in kinds.KINDS)
AXIS = Attribute(meaning="a whole number", holds=lambda value: _is_int(value, 0))
OTHER_AXIS = Attribute(
    meaning="a whole number other than 1, which is left out",
    holds=lambda value: _is_int(value, 0) and value != 1,
    optional=True,
)
AXES = Attribute(
    meaning="a list of whole numbers",
    holds=lambda value: isinstance(value, (tuple, list)) and len(value) > 0 and all(_is_int(v, 0) for v in value),
)
GELU_FORM = Attribute(meaning="erf or tanh", holds=lambda value: value in ("erf", "tanh"))
BOOLEAN = Attribute(meaning="true or false", holds=lambda value: isinstance(value, bool))
NEW_SHAPE = Attribute(
    meaning="a list of whole numbers over 0, one of which may be -1",
    holds=lambda value: (
        isinstance(value, (tuple, list))
        and all(v == -1 or _is_int(v, 1) for v in value)
        and sum(v == -1 for v in value) < 2
    ),
)
SHAPE = Attribute(
    meaning="a list of whole numbers over 0",
    holds=lambda value: isinstance(value, (tuple, list)) and all(_is_int(v, 1) for v in value),
)
POOL = {"kernel": STRIDES, "strides": STRIDES, "padding": PADDING}
