"""Names for people: short forms of networks, devices and reasons, and which frameworks are netdyno's own
instruments."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath

from netdyno.frameworks.spec import specs
from netdyno.results.cell import Cell

SHARING = ("ranks", "nodes", "strategy", "synchrony")
LONGEST_REASON = 200  # characters
OWN_NETWORK = re.compile(r"(?P<file>.*\.py):(?P<function>\w+)", re.DOTALL)
# Parts of a device's name that carry no information.
ADORNMENTS = re.compile(r"\((R|TM|C)\)|\s(\d+-Core\s)?Processor\b|\sCPU\b|\s@.*", re.IGNORECASE)
# Where a stack trace begins in a reason, whose lines may have been joined already.
TRACE = re.compile(r"\s*(Traceback \(most recent call last\):|Stack trace:|\[bt\] )")
LAST_ERROR = re.compile(r"(?:^|\s)((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit): )")


def short_name(network: str) -> str:
    """`mine` for `path/to/mine.py:mine`; names of the zoo as they are."""
    own = OWN_NETWORK.fullmatch(network)
    return own["function"] if own else network


def short_names(networks: set[str]) -> dict[str, str]:
    """The short name of each; with its file where two networks would have the same one."""
    short = [short_name(network) for network in networks]
    return {name: short_name(name) if short.count(short_name(name)) == 1 else _with_file(name) for name in networks}


def device_name(name: object) -> str:
    """The usual name of a processor or GPU, such as "AMD EPYC 9354"; empty for anything but a text."""
    return " ".join(ADORNMENTS.sub(" ", name).split()) if isinstance(name, str) else ""


def unusual(cell: Cell) -> tuple[str, ...]:
    """The network's options, and whatever says how several processes share the work, where they differ from their
    defaults; such as "hidden=512"."""
    options = [f"{name}={value}" for name, value in cell.options]
    shared = [(name, getattr(cell, name)) for name in SHARING]
    return (*options, *(f"{name}={value}" for name, value in shared if value not in (1, "none")))


def short_reason(reason: str) -> str:
    """The error of a reason in one line, without its stack trace."""
    line = " ".join(_without_trace(reason).split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1].rstrip()}…"


def is_shortened(reason: str) -> bool:
    """Whether the log says more than the line that is shown."""
    return short_reason(reason) != " ".join(reason.split())


def is_instrument(framework: str) -> bool:
    """Whether it is one of netdyno's own; a name without a spec is a user's framework."""
    return _instruments().get(framework, False)


@cache
def _instruments() -> Mapping[str, bool]:
    return {name: spec.is_instrument for name, spec in specs().items()}


def _with_file(network: str) -> str:
    own = OWN_NETWORK.fullmatch(network)
    return f"{PurePath(own['file']).name}:{own['function']}" if own else network


def _without_trace(reason: str) -> str:
    """What comes before the trace; of a trace that ends in its error, that error."""
    found = TRACE.search(reason)
    if found is None:
        return reason
    before, inside = reason[: found.start()], reason[found.end() :]
    inside = inside[: again.start()] if (again := TRACE.search(inside)) else inside
    errors = list(LAST_ERROR.finditer(inside))
    return inside[errors[-1].start() :] if errors else before or reason
