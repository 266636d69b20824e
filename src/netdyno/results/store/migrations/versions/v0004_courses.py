"""Networks trained on real data until a goal, with their learning curves."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

CELL = ("network", "dataset", "framework", "device", "precision", "execution", "data", "parallelism")
TEXTS = ("cell_key", "machine", "goal", "source", "outcome", "reason", "started_at", "ended_at")
LAST = ("graph_digest", "worker_hash", "netdyno_version")
JSONS = ("curve", "readings", "absent", "versions", "settings", "environment")


def upgrade() -> None:
    op.create_table(
        "courses",
        sa.Column("id", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in CELL),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("batch", "threads")),
        *(sa.Column(name, sa.Text, nullable=False) for name in TEXTS),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("seed", "steps")),
        *(sa.Column(name, sa.Double) for name in ("train_s", "wall_s")),
        *(sa.Column(name, sa.JSON, nullable=False) for name in JSONS),
        *(sa.Column(name, sa.Text, nullable=False) for name in LAST),
    )
    op.create_index("courses_by_goal", "courses", ["machine", "cell_key", "source", "goal"])
