"""What the database looks like: a row for each run, graph, proof, and largest batch that fits.

A change here needs a new file in migrations/versions; a test compares the two.
"""

from collections.abc import Callable
from math import isnan
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

REVISION = "0009"  # the newest of the migrations
VERSION_TABLE = "netdyno_schema"  # not Alembic's default: a team's database may be migrated by others too

METADATA = MetaData()


class AnyFloat(TypeDecorator[float]):
    """A float that may be NaN, as a diverged loss is: SQLite would store that as NULL, so there it is text."""

    impl = Double
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        if dialect.name != "sqlite":
            return None
        return lambda value: "nan" if value is not None and isnan(value) else value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return _float_if_one


def _float_if_one(value: Any) -> Any:
    """Whatever else somebody put there is refused with its row, not for the whole query."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return value


def _texts(*names: str) -> list[Column[Any]]:
    return [Column(name, Text, nullable=False) for name in names]


def _whole(*names: str) -> list[Column[Any]]:
    return [Column(name, Integer, nullable=False) for name in names]


def _json(*names: str) -> list[Column[Any]]:
    return [Column(name, JSON, nullable=False) for name in names]


RUNS = Table(
    "runs",
    METADATA,
    Column("id", Text, primary_key=True),
    *_texts("workload", "network", "options", "dataset", "goal", "source", "framework"),  # options: JSON, canonical
    *_whole("batch"),
    *_texts("precision", "execution", "data", "device"),
    *_whole("threads", "ranks", "nodes"),
    *_texts("strategy", "synchrony"),
    *_texts("cell_key", "machine"),  # the key: the columns above in one, to be unique by
    *_whole("series", "number"),
    *_texts("outcome", "reason", "started_at", "ended_at", "headline"),
    *_json("figures"),  # {name: {unit, better, value, ...}, ...}
    *_json("samples", "warmup"),  # [[steps, seconds], ...]
    *_json("curve"),  # [{step, train_s, wall_s, accuracy, loss}, ...]
    *_json("flags"),
    *(Column(name, AnyFloat) for name in ("build_s", "first_step_s", "loss_first", "loss_last")),
    *(Column(name, BigInteger) for name in ("host_peak_bytes", "device_peak_bytes")),
    *_json("readings", "absent"),
    *_json("trace"),  # {reading: [[seconds, value], ...], ...}
    *_texts("graph_digest", "graph_identity", "weights_digest", "worker_hash", "netdyno_version"),
    *_json("versions", "settings", "environment", "cost"),
    Column("basis", JSON),  # what all runs of a series share; NULL in records of before it was kept
    Column("pictures", JSON(none_as_null=True)),
    UniqueConstraint("machine", "cell_key", "series", "number", name="runs_one_of_each"),
    Index("runs_by_network", "network", "dataset", "framework"),
    Index("runs_by_framework", "framework"),
    Index("runs_by_start", "started_at"),
)

GRAPHS = Table(
    "graphs",
    METADATA,
    Column("digest", Text, primary_key=True),
    *_texts("wire"),  # JSON, as a worker gets it
)

LIMITS = Table(
    "limits",
    METADATA,
    Column("machine", Text, primary_key=True),
    Column("cell_key", Text, primary_key=True),  # of the cell at batch 1
    Column("versions", Text, primary_key=True),  # of the framework's libraries, in one line
    Column("fits", Integer, nullable=False),  # the largest batch that was seen to fit
    Column("fails", Integer),  # the smallest that was seen not to; NULL where the search ended before
    *_texts("reason", "found_at"),  # the reason: what was reported when it did not fit
)

PROOFS = Table(
    "proofs",
    METADATA,
    Column("machine", Text, primary_key=True),
    Column("framework", Text, primary_key=True),
    Column("network", Text, primary_key=True),
    Column("dataset", Text, primary_key=True),
    Column("device", Text, primary_key=True),
    Column("precision", Text, primary_key=True),
    Column("execution", Text, primary_key=True),
    Column("passed", Boolean, nullable=False),
    *(Column(name, AnyFloat) for name in ("outputs", "gradients", "parameters")),
    *_texts("worst_node", "reason"),
    *_json("versions"),
    *_texts("python", "proved_at"),
    *(Column(name, Text) for name in ("graph_digest", "graph_identity", "size")),  # NULL in older proofs
    Column("batch", Integer),
    *(Column(name, JSON(none_as_null=True)) for name in ("resolution", "worst")),
)
