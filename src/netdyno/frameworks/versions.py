"""Whether a version lies in a range such as '>=3.11,<3.15'."""

import operator
import re
from collections.abc import Callable

_OPERATORS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_BOUND = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)*)\s*")


def is_range(text: str) -> bool:
    """Whether the text is one or more bounds with commas between them."""
    return all(_BOUND.fullmatch(part) for part in text.split(","))


def fits(version: str, bounds: str) -> bool:
    """Only the leading numbers count: '2.13.0+cpu' and '2.13.0rc1' are 2.13.0; no number fits nothing."""
    release = _release(version)
    if not release:
        return False
    for part in bounds.split(","):
        match = _BOUND.fullmatch(part)
        if match is None:
            raise ValueError(f"expected a range such as '>=2,<3', received '{bounds}'")
        limit = _release(match[2])
        width = max(len(release), len(limit))
        if not _OPERATORS[match[1]](_padded(release, width), _padded(limit, width)):
            return False
    return True


def lowest(bounds: str) -> str:
    """The version a range starts with, to name one that would do; empty if it has no start."""
    found = re.search(r"(?:>=|==)\s*(\d+(?:\.\d+)*)", bounds)
    return found[1] if found else ""


def _release(version: str) -> tuple[int, ...]:
    match = re.match(r"v?(\d+(?:\.\d+)*)", version.strip())
    return tuple(int(number) for number in match[1].split(".")) if match else ()


def _padded(release: tuple[int, ...], width: int) -> tuple[int, ...]:
    return release + (0,) * (width - len(release))
