"""A proof keeps the tensors that were nearest their limits, or over them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("proofs", sa.Column("worst", sa.JSON))
