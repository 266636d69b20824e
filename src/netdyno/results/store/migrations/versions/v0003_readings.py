"""What the monitor read during a run, and the largest batch that fits."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    for name in ("readings", "absent"):
        op.add_column("records", sa.Column(name, sa.JSON))
    op.create_table(
        "limits",
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("machine", "cell_key", "versions")),
        sa.Column("fits", sa.Integer, nullable=False),
        sa.Column("fails", sa.Integer),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("reason", "found_at")),
    )
