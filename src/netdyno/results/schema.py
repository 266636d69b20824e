"""What an export holds, field by field: imports are checked against it, and the JSON Schemas are written from it.

`python -m netdyno.results.schema` writes the two .schema.json files beside this one anew; a test holds them equal.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from netdyno.results.cell import CHOICES, Cell
from netdyno.results.course import SHORT, TRAINED, Course, Evaluation
from netdyno.results.proof import Proof
from netdyno.results.record import OUTCOMES, Record, Sample
from netdyno.results.shape import (
    ANY_NUMBER,
    NAME,
    SECONDS,
    Choice,
    Maybe,
    Number,
    Shape,
    Text,
    Time,
    Truth,
    Whole,
    Words,
)
from netdyno.results.structure import Described, Fields, ListOf, MapOf

FORMAT = "netdyno-results"
SCHEMA_VERSION = 1  # goes up with every field that is added, removed or changes its meaning
LISTS = ("records", "proofs", "courses", "machines")
DRAFT = "https://json-schema.org/draft/2020-12/schema"

COUNT = Whole(least=1)
BYTES = Maybe(Whole(most=2**63 - 1))
# An id is the name of a folder: no path, and nothing hidden.
ID = Text(longest=200, pattern=r"^[^/\\.\x00-\x1f\x7f-\x9f][^/\\\x00-\x1f\x7f-\x9f]*$", told="the name of a folder")
SAMPLE = Fields(required={"steps": COUNT, "seconds": SECONDS})
POINT = ListOf(Number(), most=2, least=2)
# Any adapter's settings and any machine's properties; netdyno looks at these of them.
SETTINGS = Described({"execution": NAME, "looked_at": MapOf(Number())})
GPU = Described({"name": NAME})
CORES = Maybe(Number(least=0))
ENVIRONMENT = Described({"cpu": NAME, "gpus": ListOf(GPU), "usable_cores": CORES, "physical_cores": CORES})


def _fields(of: type, shapes: Mapping[str, Shape]) -> Fields:
    """The shapes of a dataclass's fields: those without a default are required."""
    known = {field.name: field for field in fields(of)}
    assert known.keys() == shapes.keys(), known.keys() ^ shapes.keys()
    required = {name for name, field in known.items() if _is_required(field)}
    return Fields(
        required={name: shapes[name] for name in known if name in required},
        optional={name: shapes[name] for name in known if name not in required},
    )


def _is_required(field: "Field[Any]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


CELL = _fields(
    Cell,
    {
        **dict.fromkeys(("network", "dataset", "framework"), NAME),
        **{name: Choice(options=choices) for name, choices in CHOICES.items()},
        **dict.fromkeys(("batch", "threads"), COUNT),
    },
)
EVALUATION = _fields(
    Evaluation,
    {
        "step": Whole(),
        "accuracy": Number(least=0, most=1),
        **dict.fromkeys(("train_s", "wall_s", "loss"), ANY_NUMBER),
    },
)
RECORD = _fields(
    Record,
    {
        "id": ID,
        "cell": CELL,
        "machine": NAME,
        "series": COUNT,
        "number": COUNT,
        "outcome": Choice(options=OUTCOMES),
        "started_at": Time(),
        "ended_at": Time(),
        "reason": Words(),
        **dict.fromkeys(("samples", "warmup"), ListOf(_fields(Sample, SAMPLE.required))),
        "flags": ListOf(Words(), most=100),
        **dict.fromkeys(("build_s", "first_step_s", "loss_first", "loss_last"), Maybe(ANY_NUMBER)),
        **dict.fromkeys(("host_peak_bytes", "device_peak_bytes"), BYTES),
        "readings": MapOf(Number()),
        "absent": MapOf(Words()),
        "trace": MapOf(ListOf(POINT, most=1000), most=100),
        **dict.fromkeys(("graph_digest", "weights_digest", "worker_hash", "netdyno_version"), NAME),
        "versions": MapOf(NAME),
        "settings": SETTINGS,
        "environment": ENVIRONMENT,
        "cost": MapOf(Number()),
    },
)
COURSE = _fields(
    Course,
    {
        "id": ID,
        "cell": CELL,
        **dict.fromkeys(("machine", "goal", "source"), NAME),
        "seed": Whole(),
        "outcome": Choice(options=(TRAINED, SHORT, *OUTCOMES)),
        "started_at": Time(),
        "ended_at": Time(),
        "reason": Words(),
        "curve": ListOf(EVALUATION),
        "steps": Whole(),
        **dict.fromkeys(("train_s", "wall_s"), Maybe(ANY_NUMBER)),
        "readings": MapOf(ANY_NUMBER),
        "absent": MapOf(Words()),
        "versions": MapOf(NAME),
        "settings": SETTINGS,
        "environment": ENVIRONMENT,
        **dict.fromkeys(("graph_digest", "worker_hash", "netdyno_version"), NAME),
    },
)
PROOF = _fields(
    Proof,
    {
        **dict.fromkeys(("framework", "network", "dataset", "device", "precision", "execution"), NAME),
        "passed": Truth(),
        **dict.fromkeys(("outputs", "gradients", "parameters"), Maybe(ANY_NUMBER)),
        **dict.fromkeys(("worst_node", "reason"), Words()),
        "versions": MapOf(NAME),
        **dict.fromkeys(("python", "machine", "proved_at"), NAME),
    },
)
MACHINE = Fields(required={"name": NAME, "records": Whole(), "last_run_at": Time(), "environment": ENVIRONMENT})
EXPORT = Fields(
    required={
        "format": Choice(options=(FORMAT,)),
        "schema_version": COUNT,
        "records": ListOf(RECORD, most=1_000_000),
    },
    optional={
        "netdyno_version": NAME,
        "proofs": ListOf(PROOF),
        "courses": ListOf(COURSE),
        "machines": ListOf(MACHINE),
        "digest": Text(pattern=r"^sha256:[0-9a-f]{64}$", told="sha256: and 64 hexadecimal digits"),
    },
)
PARTS: Mapping[str, Shape] = {"records": RECORD, "proofs": PROOF, "courses": COURSE, "machines": MACHINE}

FILES = {
    "record.schema.json": (RECORD, "One run of one cell, as netdyno keeps and exports it"),
    "export.schema.json": (EXPORT, "What netdyno results export --format json writes"),
}


def schema_text(name: str) -> str:
    """The JSON Schema file of that name."""
    shape, title = FILES[name]
    head = {"$schema": DRAFT, "title": f"{title} (schema_version {SCHEMA_VERSION})"}
    return json.dumps({**head, **shape.schema()}, indent=1) + "\n"


if __name__ == "__main__":
    for name in FILES:
        Path(__file__).with_name(name).write_text(schema_text(name))
