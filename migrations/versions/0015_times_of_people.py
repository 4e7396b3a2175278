"""The time zone of a person, and how they have dates written

Revision: 0015
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

runs_earlier_code = True


def upgrade() -> None:
    op.add_column("users", sa.Column("time_zone", sa.String(length=64), nullable=True))
    op.add_column("users", sa.Column("date_format", sa.String(length=20), nullable=True))
