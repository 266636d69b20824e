"""One point of the matrix: what is measured, how, and where.

It lives here and not with the workloads because records, results and comparisons are keyed by it.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import astuple, fields, force_setattr

from netdyno.errors import NetdynoError, unknown
from netdyno.results.values import END, IN_JSON, Count, Name, one_of

CHOICES: Mapping[str, tuple[str, ...]] = {
    "device": ("cpu", "cuda"),
    "precision": ("float32", "tf32", "bfloat16", "float16", "float64"),
    "execution": ("eager", "compiled", "cudagraph", "compiled-cudagraph", "fastest"),
    "data": ("synthetic", "packed", "native"),
}
COUNTS = ("batch", "threads", "ranks", "nodes")

Word = Annotated[str, Meta(max_length=100, pattern=f"^[a-z][a-z0-9-]*{END}")]
Option = int | float | str
Options = Annotated[
    tuple[tuple[Name, Annotated[int, Meta(ge=-(2**53), le=2**53)] | float | Name], ...],
    Meta(
        max_length=100,
        extra_json_schema={IN_JSON: {"type": "object", "additionalProperties": {"type": ["number", "string"]}}},
    ),
]


class Cell(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that may change a measurement, and nothing that may not. `options` may be given as a mapping."""

    workload: Word = "train"
    network: Name
    options: Options = ()  # of the network, sorted by name
    dataset: Name
    goal: Name = ""  # of `learn`: 'epochs=1', 'accuracy=0.985 within epochs=20'
    source: Name = ""  # of `learn`: whose files
    framework: Name
    batch: Count
    precision: Annotated[str, one_of(*CHOICES["precision"])] = "float32"
    execution: Annotated[str, one_of(*CHOICES["execution"])] = "eager"
    data: Annotated[str, one_of(*CHOICES["data"])] = "synthetic"
    device: Annotated[str, one_of(*CHOICES["device"])] = "cpu"
    threads: Count
    ranks: Count = 1
    nodes: Count = 1
    strategy: Word = "none"
    synchrony: Word = "none"

    def __post_init__(self) -> None:
        pairs = self.options.items() if isinstance(self.options, Mapping) else self.options
        force_setattr(self, "options", tuple(sorted((str(name), value) for name, value in pairs)))
        for field, choices in CHOICES.items():
            if getattr(self, field) not in choices:
                raise unknown(field, str(getattr(self, field)), choices)
        for field in COUNTS:
            value = getattr(self, field)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise NetdynoError(f"{field}: expected a whole number over 0, received {value!r}.")

    def __lt__(self, other: "Cell") -> bool:
        return self._order() < other._order()

    def key(self) -> str:
        """One line that names the cell, the same on every machine. Defaults are left out, so that a new field changes
        no key that is stored."""
        named = {name: getattr(self, name) for name in FIELDS}
        named["options"] = self.options_text()
        return " ".join(f"{name}={value}" for name, value in named.items() if value != _DEFAULTS.get(name))

    def label(self) -> str:
        """What a person calls the cell."""
        return f"{self.network}/{self.dataset} {self.framework} {self.execution} {self.precision} b{self.batch}"

    def options_text(self) -> str:
        """Such as `hidden:512,layers:2`."""
        return ",".join(f"{name}:{value}" for name, value in self.options)

    def as_dict(self) -> dict[str, Any]:
        """Field by field, in the order of the class; options as a mapping."""
        return {name: getattr(self, name) for name in FIELDS} | {"options": dict(self.options)}

    def columns(self) -> dict[str, Any]:
        """The same as a database and a table file keep it: options as JSON text."""
        return {name: getattr(self, name) for name in FIELDS} | {"options": options_json(self.options)}

    def _order(self) -> tuple[Any, ...]:
        values = astuple(self)
        return (*values[:2], options_json(self.options), *values[3:])


def options_json(options: tuple[tuple[str, Option], ...]) -> str:
    """Options as canonical JSON."""
    return json.dumps(dict(options), sort_keys=True, separators=(",", ":")) if options else "{}"


FIELDS = tuple(field.name for field in fields(Cell))
_DEFAULTS = {field.name: field.default for field in fields(Cell)} | {"options": ""}
