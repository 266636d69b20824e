"""A training of a network that makes pictures keeps some of them."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("runs", sa.Column("pictures", sa.JSON))
