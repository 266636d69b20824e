"""What all runs of a series share, beside graph and worker, is kept with each of them."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("runs", sa.Column("basis", sa.JSON))
