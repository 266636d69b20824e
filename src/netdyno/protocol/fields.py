"""The bounded types of protocol fields: what comes from another process is checked before anybody uses it."""

from typing import Annotated

from msgspec import Meta

PROTOCOL = 2
LARGEST = 2**53  # whole number that every JSON reader keeps exactly
LONGEST_S = 1e9  # thirty years
SHORTEST_S = 1e-9  # no clock tells less

Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]  # fits an integer column of every database
Number = Annotated[float, Meta(ge=-1e300, le=1e300)]
Seconds = Annotated[float, Meta(ge=0, le=LONGEST_S)]
Duration = Annotated[float, Meta(ge=SHORTEST_S, le=LONGEST_S)]
Share = Annotated[float, Meta(ge=0, le=1)]
SHOWN = "^[^\x00-\x1f\x7f-\x9f]*$(?!\n)"  # no control characters: what a record may hold, and a terminal may show
Name = Annotated[str, Meta(max_length=300, pattern=SHOWN)]
TaskName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
Text = Annotated[str, Meta(max_length=10_000)]
Path = Annotated[str, Meta(max_length=10_000)]
Scalar = (
    Annotated[str, Meta(max_length=2_000, pattern=SHOWN)]
    | Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
    | Number
    | bool
    | None
)
Settings = Annotated[dict[Name, Scalar], Meta(max_length=200)]
MOST_PICTURES = 24
MOST_SIDE = 64  # pixels of a picture: the worker leaves pixels out of larger ones
Side = Annotated[int, Meta(ge=1, le=MOST_SIDE)]
Pixels = Annotated[bytes, Meta(max_length=MOST_PICTURES * MOST_SIDE**2 * 3)]  # in JSON as base64
Wire = dict[str, object]
"""A programme in the form that netdyno.graph.wire writes and reads."""
