"""Which earlier version runs on the tables of a later one

Revision: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

runs_earlier_code = True


def upgrade() -> None:
    op.add_column("alembic_version", sa.Column("oldest_code", sa.String(length=32)))
