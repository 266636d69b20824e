"""How a course becomes a row of the database, and comes back the same."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from netdyno.results.cell import FIELDS, Cell
from netdyno.results.course import Course, Evaluation

JSONS = ("readings", "absent", "versions", "settings", "environment")
PLAIN = tuple(f.name for f in fields(Course) if f.name not in ("cell", "curve", *JSONS))


def to_row(course: Course) -> dict[str, Any]:
    """Column by column."""
    row: dict[str, Any] = {**course.cell.as_dict(), "cell_key": course.cell.key()}
    row |= {name: getattr(course, name) for name in PLAIN}
    row |= {name: dict(getattr(course, name)) for name in JSONS}
    return row | {"curve": [asdict(evaluation) for evaluation in course.curve]}


def from_row(row: Mapping[str, Any]) -> Course:
    """The course in a row."""
    return Course(
        cell=Cell(**{name: row[name] for name in FIELDS}),
        curve=tuple(Evaluation(**told) for told in row["curve"]),
        **{name: row[name] for name in (*PLAIN, *JSONS)},
    )
