"""One table of runs for every workload, with figures; graphs by their digest; what a proof was made of."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import sqlalchemy as sa
from alembic import op

from netdyno.results.cell import Cell
from netdyno.results.store import version1

revision = "0006"
down_revision = "0005"

AT_A_TIME = 500
CELL_TEXTS = ("workload", "network", "options", "dataset", "goal", "source", "framework")
COPIED = (
    "id", "framework", "batch", "precision", "execution", "data", "device", "threads", "machine", "series", "number",
    "outcome", "reason", "started_at", "ended_at", "samples", "warmup", "flags", "build_s", "first_step_s",
    "loss_first", "loss_last", "host_peak_bytes", "device_peak_bytes", "graph_digest", "weights_digest",
    "worker_hash", "netdyno_version", "versions", "settings", "environment", "cost",
)  # fmt: skip
CONSTANT = {
    "workload": "'train'", "network": "records.network", "goal": "''", "source": "''", "ranks": "1", "nodes": "1",
    "strategy": "'none'", "synchrony": "'none'", "graph_identity": "''", "curve": "'[]'",
    "trace": "COALESCE(records.trace, '{}')",
}  # fmt: skip
COMPUTED = ("options", "dataset", "cell_key", "figures", "headline", "readings", "absent")
READ = (*version1.CELL_FIELDS, "id", "outcome", "samples", "readings", "absent", "first_step_s")
PEAKS = ("host_peak_bytes", "device_peak_bytes")


def upgrade() -> None:
    _create_tables()
    for name in ("graph_digest", "graph_identity", "size"):
        op.add_column("proofs", sa.Column(name, sa.Text))
    op.add_column("proofs", sa.Column("batch", sa.Integer))
    op.add_column("proofs", sa.Column("resolution", sa.JSON))
    connection = op.get_bind()
    _move_records(connection)
    _move_courses(connection)
    _rename_limits(connection)
    op.drop_table("records")
    op.drop_table("courses")


def _create_tables() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, primary_key=True),
        *_required(sa.Text, *CELL_TEXTS),
        *_required(sa.Integer, "batch"),
        *_required(sa.Text, "precision", "execution", "data", "device"),
        *_required(sa.Integer, "threads", "ranks", "nodes"),
        *_required(sa.Text, "strategy", "synchrony", "cell_key", "machine"),
        *_required(sa.Integer, "series", "number"),
        *_required(sa.Text, "outcome", "reason", "started_at", "ended_at", "headline"),
        *_required(sa.JSON, "figures", "samples", "warmup", "curve", "flags"),
        *(sa.Column(name, sa.Double) for name in ("build_s", "first_step_s", "loss_first", "loss_last")),
        *(sa.Column(name, sa.BigInteger) for name in PEAKS),
        *_required(sa.JSON, "readings", "absent", "trace"),
        *_required(sa.Text, "graph_digest", "graph_identity", "weights_digest", "worker_hash", "netdyno_version"),
        *_required(sa.JSON, "versions", "settings", "environment", "cost"),
        sa.UniqueConstraint("machine", "cell_key", "series", "number", name="runs_one_of_each"),
    )
    op.create_index("runs_by_network", "runs", ["network", "dataset", "framework"])
    op.create_index("runs_by_framework", "runs", ["framework"])
    op.create_index("runs_by_start", "runs", ["started_at"])
    op.create_table(
        "graphs", sa.Column("digest", sa.Text, primary_key=True), sa.Column("wire", sa.Text, nullable=False)
    )


def _move_records(connection: sa.Connection) -> None:
    """What changes is computed into a table beside; all the rest is copied inside the database."""
    beside = sa.Table(
        "computed",
        sa.MetaData(),
        sa.Column("id", sa.Text, primary_key=True),
        *(sa.Column(name, sa.JSON if name in ("figures", "readings", "absent") else sa.Text) for name in COMPUTED),
    )
    beside.create(connection)
    for rows in _in_batches(_read(connection, "records", (*READ, *PEAKS))):
        connection.execute(sa.insert(beside), [_computed(row) for row in rows])
    json_type = "::json" if connection.dialect.name == "postgresql" else ""
    constant = {name: text + (json_type if name == "curve" else "") for name, text in CONSTANT.items()}
    columns = {
        **{name: f"records.{name}" for name in COPIED},
        **constant,
        **{name: f"computed.{name}" for name in COMPUTED},
    }
    connection.execute(
        sa.text(
            f"INSERT INTO runs ({', '.join(columns)}) SELECT {', '.join(columns.values())} "
            "FROM records JOIN computed ON computed.id = records.id"
        )
    )
    beside.drop(connection)


def _computed(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = version1.cell_of(row)
    cell = Cell(**fields)
    old = {
        **row,
        "readings": version1.renamed(row["readings"] or {}),
        "absent": version1.renamed(row["absent"] or {}),
    }
    steps = [seconds / steps for steps, seconds in row["samples"]]
    is_measured = row["outcome"] == "measured" and bool(steps)
    return {
        "id": row["id"],
        "options": cell.columns()["options"],
        "dataset": cell.dataset,
        "cell_key": cell.key(),
        "figures": version1.train_figures(old, steps) if is_measured else {},
        "headline": "throughput",
        "readings": old["readings"],
        "absent": version1.train_absent(old),
    }


def _move_courses(connection: sa.Connection) -> None:
    courses = list(_read(connection, "courses", None))
    series = version1.series_of(courses)
    runs = sa.Table("runs", sa.MetaData(), autoload_with=connection)
    rows = [_learn_row(course, series[course["id"]]) for course in courses]
    if rows:
        connection.execute(sa.insert(runs), rows)


def _learn_row(course: Mapping[str, Any], series: int) -> dict[str, Any]:
    run = version1.learn_run(course)
    cell = Cell(**run.pop("cell"))
    empty: dict[str, Any] = {"samples": [], "warmup": [], "flags": [], "trace": {}, "cost": {}}
    missing = dict.fromkeys(("build_s", "first_step_s", "loss_first", "loss_last", *PEAKS))
    own = {"series": series, "cell_key": cell.key(), "graph_identity": "", "weights_digest": ""}
    return {**run, **cell.columns(), **empty, **missing, **own}


def _rename_limits(connection: sa.Connection) -> None:
    """The key of a limit is its cell's, whose spelling changed."""
    change = sa.text("UPDATE limits SET cell_key = :new WHERE cell_key = :old")
    keys = [row.cell_key for row in connection.execute(sa.text("SELECT DISTINCT cell_key FROM limits"))]
    for key in keys:
        if (new := _new_key(key)) != key:
            connection.execute(change, {"new": new, "old": key})


def _new_key(key: str) -> str:
    """The new spelling of an old key; as it is where it cannot be read."""
    names = (*version1.CELL_FIELDS, "parallelism")
    places = [key.find(f"{name}=") for name in names]
    if places != sorted(places) or places[0] != 0:
        return key
    ends = [*(place - 1 for place in places[1:]), len(key)]
    values: dict[str, Any] = {
        name: key[place + len(name) + 1 : end] for name, place, end in zip(names, places, ends, strict=True)
    }
    values |= {name: int(values[name]) for name in ("batch", "threads")}
    return Cell(**version1.cell_of(values)).key()


def _read(connection: sa.Connection, table: str, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Rows with their JSON read: by Python's own reader, because a curve may hold NaN."""
    kinds = {column["name"]: column["type"] for column in sa.inspect(connection).get_columns(table)}
    chosen: list[sa.ColumnClause[Any]] = [sa.column(name) for name in columns or kinds]
    as_json = {name for name, kind in kinds.items() if isinstance(kind, sa.JSON)}
    for row in connection.execute(sa.select(*chosen).select_from(sa.table(table))).mappings():
        yield {
            name: json.loads(value) if name in as_json and isinstance(value, str) else value
            for name, value in row.items()
        }


def _in_batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while some := list(islice(rows, AT_A_TIME)):
        yield some


def _required(kind: type[sa.types.TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]
