"""The backgrounds of maps that operators turn on

Revision: 0108
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0108"
down_revision = "0107"
branch_labels = None
depends_on = None

# Earlier code need not fill the column.
runs_earlier_code = True


def upgrade() -> None:
    op.add_column("instance_state", sa.Column("backgrounds", sa.Text))
