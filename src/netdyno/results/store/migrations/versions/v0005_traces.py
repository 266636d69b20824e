"""What was read along a run's timed window is kept with its record, thinned."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("records", sa.Column("trace", sa.JSON))
