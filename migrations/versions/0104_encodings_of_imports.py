"""Encodings of imports

Revision: 0104
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0104"
down_revision = "0103"
branch_labels = None
depends_on = None

# Earlier code need not fill the columns.
runs_earlier_code = True


def upgrade() -> None:
    op.add_column("imports", sa.Column("encoding", sa.JSON(none_as_null=True)))
    op.add_column("imports", sa.Column("given_encoding", sa.String(20)))
