"""How a record, a course or a proof becomes plain data that JSON can say, and comes back the same."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from math import isfinite, isnan
from typing import Any

from netdyno.results.cell import FIELDS, Cell
from netdyno.results.course import Course, Evaluation
from netdyno.results.proof import Proof
from netdyno.results.record import Record, Sample
from netdyno.results.rows import FLOATS, SAMPLES

RECORD_FIELDS = tuple(field.name for field in fields(Record))
COURSE_FIELDS = tuple(field.name for field in fields(Course))
PROOF_FLOATS = ("outputs", "gradients", "parameters")
COURSE_FLOATS = ("train_s", "wall_s")

# What would move a terminal's cursor; a line break and a tab are harmless.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def record_to_plain(record: Record) -> dict[str, Any]:
    """Field by field, in the order of the class."""
    told = {name: getattr(record, name) for name in RECORD_FIELDS}
    told |= {"cell": {name: getattr(record.cell, name) for name in FIELDS}, "flags": list(record.flags)}
    for name in SAMPLES:
        told[name] = [{"steps": sample.steps, "seconds": sample.seconds} for sample in told[name]]
    return told | {name: _sayable(told[name]) for name in FLOATS}


def record_from_plain(told: Mapping[str, Any]) -> Record:
    """The record in data that was checked against the schema."""
    made: dict[str, Any] = {name: tuple(_sample(sample) for sample in told.get(name, ())) for name in SAMPLES}
    made |= {name: _float(told.get(name)) for name in FLOATS}
    made |= _clean_words(told)
    if "flags" in told:
        made["flags"] = tuple(clean(flag) for flag in told["flags"])
    return Record(**{**told, **made, "cell": Cell(**told["cell"])})


def course_to_plain(course: Course) -> dict[str, Any]:
    """Likewise; a loss may have diverged."""
    told = {name: getattr(course, name) for name in COURSE_FIELDS}
    curve = [asdict(evaluation) for evaluation in course.curve]
    plain: dict[str, Any] = _sayable({**told, "cell": course.cell.as_dict(), "curve": curve})
    return plain


def course_from_plain(told: Mapping[str, Any]) -> Course:
    made: dict[str, Any] = {name: _float(told.get(name)) for name in COURSE_FLOATS}
    made |= _clean_words(told)
    made["readings"] = {name: _float(value) for name, value in told.get("readings", {}).items()}
    made["curve"] = tuple(_evaluation(point) for point in told.get("curve", ()))
    return Course(**{**told, **made, "cell": Cell(**told["cell"])})


def proof_to_plain(proof: Proof) -> dict[str, Any]:
    told = asdict(proof)
    return told | {name: _sayable(told[name]) for name in PROOF_FLOATS}


def proof_from_plain(told: Mapping[str, Any]) -> Proof:
    words = {name: clean(told[name]) for name in ("reason", "worst_node") if name in told}
    return Proof(**{**told, **words, **{name: _float(told.get(name)) for name in PROOF_FLOATS}})


TO_PLAIN: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "records": record_to_plain,
    "courses": course_to_plain,
    "proofs": proof_to_plain,
}
FROM_PLAIN: Mapping[str, Callable[[Mapping[str, Any]], Record | Course | Proof]] = {
    "records": record_from_plain,
    "courses": course_from_plain,
    "proofs": proof_from_plain,
}


def clean(words: str) -> str:
    """What some program said, without what would make a terminal do things or a database refuse."""
    return _CONTROLS.sub("�", words.encode("utf-8", "replace").decode())


def _clean_words(told: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"reason": clean(told["reason"])} if "reason" in told else {}
    if "absent" in told:
        made["absent"] = {name: clean(reason) for name, reason in told["absent"].items()}
    return made


def _sample(told: Mapping[str, Any]) -> Sample:
    return Sample(steps=told["steps"], seconds=float(told["seconds"]))


def _evaluation(told: Mapping[str, Any]) -> Evaluation:
    return Evaluation(step=told["step"], **{name: _float(told[name]) for name in told if name != "step"})


def _float(value: Any) -> Any:
    """A number as a float, and those that JSON cannot say out of their names."""
    return None if value is None else float(value)


def _sayable(value: Any) -> Any:
    """NaN and the infinities by name, wherever they are."""
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {name: _sayable(item) for name, item in value.items()}
    return [_sayable(item) for item in value] if isinstance(value, list | tuple) else value
