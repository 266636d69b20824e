"""One point of the matrix: what a run measures.

It lives here and not in the harness because records, results and comparisons are keyed by it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from netdyno.errors import NetdynoError, unknown

CHOICES: Mapping[str, tuple[str, ...]] = {
    "device": ("cpu", "cuda"),
    "precision": ("float32", "tf32", "bfloat16", "float16"),
    "execution": ("eager", "compiled", "cudagraph", "compiled-cudagraph", "fastest"),
    "data": ("synthetic", "packed", "native"),
    "parallelism": ("none",),
}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """Everything that may change a measurement, and nothing that may not."""

    network: str
    dataset: str
    framework: str
    device: str
    batch: int
    precision: str
    execution: str
    data: str
    threads: int
    parallelism: str = "none"

    def __post_init__(self) -> None:
        for field, choices in CHOICES.items():
            if getattr(self, field) not in choices:
                raise unknown(field, str(getattr(self, field)), choices)
        for field in ("batch", "threads"):
            value = getattr(self, field)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise NetdynoError(f"{field}: expected a whole number over 0, received {value!r}.")

    def key(self) -> str:
        """One line that names the cell, the same on every machine."""
        return " ".join(f"{name}={value}" for name, value in self.as_dict().items())

    def label(self) -> str:
        """What a person calls the cell."""
        return f"{self.network}/{self.dataset} {self.framework} {self.execution} {self.precision} b{self.batch}"

    def as_dict(self) -> dict[str, Any]:
        """Field by field, in the order of the class."""
        return asdict(self)


FIELDS = tuple(field.name for field in fields(Cell))
