"""Names and counts as a user wrote them in a suite or on the command line: checked before they reach a cell."""

from netdyno.errors import NetdynoError
from netdyno.text import harmless, shown

LONGEST = 1000  # characters of a name
MOST = {"batch": 2**31 - 1, "threads": 4096}


def split_name(network: str, dataset: str | None) -> tuple[str, str | None]:
    """`lenet/mnist` is a network and its dataset; a path has slashes of its own."""
    if "/" not in network or ".py:" in network:
        return network, dataset
    if dataset:
        raise NetdynoError(f"expected one dataset, received '{dataset}' beside '{network}'.")
    name, _, own = network.partition("/")
    return name, own


def checked_text(field: str, value: object) -> str:
    """A name that can be stored and shown."""
    if not isinstance(value, str):
        raise NetdynoError(f"{field}: expected a name, received {shown(value)}.")
    if len(value) > LONGEST or harmless(value) != value or "\n" in value:
        raise NetdynoError(
            f"{field}: expected a name of at most {LONGEST} characters that can be seen, received {shown(value)}."
        )
    return value


def checked_count(field: str, value: object) -> int:
    """A whole number over 0 that every database and framework takes."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise NetdynoError(f"{field}: expected a whole number over 0, received {shown(value)}.")
    if value > MOST[field]:
        raise NetdynoError(f"{field}: expected at most {MOST[field]:,}, received {shown(value)}.")
    return value
