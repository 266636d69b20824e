"""The first schema: one table of records."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "records",
        sa.Column("id", sa.Text, primary_key=True),
        *_required(sa.Text, "network", "dataset", "framework", "device"),
        *_required(sa.Integer, "batch"),
        *_required(sa.Text, "precision", "execution", "data"),
        *_required(sa.Integer, "threads"),
        *_required(sa.Text, "parallelism", "cell_key", "machine"),
        *_required(sa.Integer, "series", "number"),
        *_required(sa.Text, "outcome", "reason", "started_at", "ended_at"),
        *_required(sa.JSON, "samples", "warmup", "flags"),
        *(sa.Column(name, sa.Double) for name in ("build_s", "first_step_s", "loss_first", "loss_last")),
        *(sa.Column(name, sa.BigInteger) for name in ("host_peak_bytes", "device_peak_bytes")),
        *_required(sa.Text, "graph_digest", "weights_digest", "worker_hash", "netdyno_version"),
        *_required(sa.JSON, "versions", "settings", "environment", "cost"),
        sa.UniqueConstraint("machine", "cell_key", "series", "number", name="records_one_of_each_run"),
    )
    op.create_index("records_by_network", "records", ["network", "dataset", "framework"])
    op.create_index("records_by_framework", "records", ["framework"])
    op.create_index("records_by_start", "records", ["started_at"])


def _required(kind: type[sa.types.TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]
