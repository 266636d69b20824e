"""Proofs are kept too, so that a result can say whether its framework trains the same network."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

KEY = ("machine", "framework", "network", "dataset", "device", "precision", "execution")


def upgrade() -> None:
    op.create_table(
        "proofs",
        *(sa.Column(name, sa.Text, primary_key=True) for name in KEY),
        sa.Column("passed", sa.Boolean, nullable=False),
        *(sa.Column(name, sa.Double) for name in ("outputs", "gradients", "parameters")),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("worst_node", "reason")),
        sa.Column("versions", sa.JSON, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("python", "proved_at")),
    )
