"""The limits of single values in records and proofs: checked on import, and written into the JSON Schemas."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from msgspec import Meta

CONTROLS = "\x00-\x1f\x7f-\x9f"
END = "$(?!\n)"  # Python's `$` would also match before a last line feed
NOT_FINITE = ("NaN", "Infinity", "-Infinity")  # JSON has no such numbers, so they are texts there
TIME = rf"^\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{{1,6}})?(Z|[+-]\d\d:\d\d){END}"


def latest_moment() -> str:
    """What no clock but a wrong one says: tomorrow, as clocks and time zones differ."""
    return (datetime.now(UTC) + timedelta(days=1)).isoformat()


def one_of(*names: str) -> Meta:
    """A text among a few; `describe` in exchange/check.py turns the pattern back into a list."""
    return Meta(pattern=f"^({'|'.join(names)}){END}")


Name = Annotated[str, Meta(max_length=1000, pattern=f"^[^{CONTROLS}]*{END}")]
Words = Annotated[str, Meta(max_length=100_000)]  # output of a program: any characters
Id = Annotated[str, Meta(max_length=200, pattern=f"^[^/\\\\.{CONTROLS}][^/\\\\{CONTROLS}]*{END}")]  # a folder's name
Moment = Annotated[str, Meta(max_length=40, pattern=TIME)]
Whole = Annotated[int, Meta(ge=0, le=2**31 - 1)]  # fits an integer column of every database
Count = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Bytes = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Finite = Annotated[float, Meta(ge=-1e100, le=1e100)]  # sums and products of such numbers are finite
Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | Finite
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(ge=1e-9, le=1e9)]
# What msgspec cannot derive from a type stands under this name, and replaces what it derives (exchange/lines.py).
IN_JSON = "x-in-json"
AnyNumber = Annotated[
    float, Meta(extra_json_schema={IN_JSON: {"anyOf": [{"type": "number"}, {"enum": [*NOT_FINITE]}]}})
]
