"""A named quantity with a unit and a direction: of one run, and estimated over several."""

from typing import Annotated

from msgspec import Meta, Struct

from netdyno.errors import NetdynoError
from netdyno.results.values import END, Finite, Name, one_of

BETTER = ("more", "less", "none")  # which change is an improvement
FigureName = Annotated[str, Meta(max_length=60, pattern=f"^[a-z][a-z0-9_]*{END}")]


class Figure(Struct, frozen=True, forbid_unknown_fields=True):
    """What one run gives. With `per_step` it is a rate over the timed blocks: so many items per step, over the median
    of the seconds per step; its statistics then come from the blocks themselves.

    Figures with different `source` are not compared: a GPU's tensors are not a process's memory.
    """

    name: FigureName
    unit: Name
    better: Annotated[str, one_of(*BETTER)]
    value: Finite
    per_step: Finite | None = None
    source: Name = ""  # the reading that it is, where there are several

    def __post_init__(self) -> None:
        if self.better not in BETTER:
            raise NetdynoError(f"a figure: expected better to be one of {BETTER}, received '{self.better}'.")


class Estimate(Struct, frozen=True, kw_only=True):
    """A figure over a result's runs: their mean and its 95 % interval, which is None with a single run: that cannot
    show how much the next would differ."""

    value: float
    low: float | None = None
    high: float | None = None
    unit: str
    better: str
