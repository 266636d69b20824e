"""What the database looks like: a row for each run, for each course, for the largest batch
that fits, and for the last proof of a framework on a network.

A change here needs a new file in migrations/versions; a test holds the two equal.
"""

from collections.abc import Callable
from math import isfinite, isnan
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

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], float | None]:
        return lambda value: None if value is None else float(value)


class AnyCurve(TypeDecorator[list[dict[str, Any]]]):
    """A learning curve, whose loss may be NaN or infinite: JSON has no word for that, so it is text there."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return [{name: v if isfinite(v) else str(v) for name, v in point.items()} for point in value]

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return [{name: float(v) if isinstance(v, str) else v for name, v in point.items()} for point in value]


RECORDS = Table(
    "records",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("network", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("framework", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("batch", Integer, nullable=False),
    Column("precision", Text, nullable=False),
    Column("execution", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("threads", Integer, nullable=False),
    Column("parallelism", Text, nullable=False),
    Column("cell_key", Text, nullable=False),  # the ten columns above in one, to be unique by
    Column("machine", Text, nullable=False),
    Column("series", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("ended_at", Text, nullable=False),
    Column("samples", JSON, nullable=False),  # [[steps, seconds], ...]
    Column("warmup", JSON, nullable=False),
    Column("flags", JSON, nullable=False),
    Column("build_s", AnyFloat),
    Column("first_step_s", AnyFloat),
    Column("loss_first", AnyFloat),
    Column("loss_last", AnyFloat),
    Column("host_peak_bytes", BigInteger),
    Column("device_peak_bytes", BigInteger),
    Column("readings", JSON),  # NULL in records of before there were any
    Column("absent", JSON),
    Column("trace", JSON),  # {reading: [[seconds, value], ...]}; NULL in records of before it was kept
    Column("graph_digest", Text, nullable=False),
    Column("weights_digest", Text, nullable=False),
    Column("worker_hash", Text, nullable=False),
    Column("netdyno_version", Text, nullable=False),
    Column("versions", JSON, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("environment", JSON, nullable=False),
    Column("cost", JSON, nullable=False),
    UniqueConstraint("machine", "cell_key", "series", "number", name="records_one_of_each_run"),
    Index("records_by_network", "network", "dataset", "framework"),
    Index("records_by_framework", "framework"),
    Index("records_by_start", "started_at"),
)

COURSES = Table(
    "courses",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("network", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("framework", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("precision", Text, nullable=False),
    Column("execution", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("parallelism", Text, nullable=False),
    Column("batch", Integer, nullable=False),
    Column("threads", Integer, nullable=False),
    Column("cell_key", Text, nullable=False),  # the ten columns above in one
    Column("machine", Text, nullable=False),
    Column("goal", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("ended_at", Text, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("train_s", AnyFloat),
    Column("wall_s", AnyFloat),
    Column("curve", AnyCurve, nullable=False),  # [{step, train_s, wall_s, accuracy, loss}, ...]
    Column("readings", JSON, nullable=False),
    Column("absent", JSON, nullable=False),
    Column("versions", JSON, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("environment", JSON, nullable=False),
    Column("graph_digest", Text, nullable=False),
    Column("worker_hash", Text, nullable=False),
    Column("netdyno_version", Text, nullable=False),
    Index("courses_by_goal", "machine", "cell_key", "source", "goal"),
)

LIMITS = Table(
    "limits",
    METADATA,
    Column("machine", Text, primary_key=True),
    Column("cell_key", Text, primary_key=True),  # of the cell at batch 1
    Column("versions", Text, primary_key=True),  # of the framework's libraries, in one line
    Column("fits", Integer, nullable=False),  # the largest batch that was seen to fit
    Column("fails", Integer),  # the smallest that was seen not to; none where the search ended before
    Column("reason", Text, nullable=False),  # what was said when it did not
    Column("found_at", Text, nullable=False),
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
    Column("outputs", AnyFloat),
    Column("gradients", AnyFloat),
    Column("parameters", AnyFloat),
    Column("worst_node", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("versions", JSON, nullable=False),
    Column("python", Text, nullable=False),
    Column("proved_at", Text, nullable=False),
)
