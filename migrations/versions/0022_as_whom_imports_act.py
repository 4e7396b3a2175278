"""Through which key or application somebody has had an import applied or undone

Revision: 0022
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

runs_earlier_code = True


def upgrade() -> None:
    op.add_column("imports", sa.Column("acted_as", sa.JSON(), nullable=True))
