"""Who has had an import applied or undone

Revision: 0010
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("imports", sa.Column("acted_by", KEY, nullable=True))
    op.add_column("imports", sa.Column("acted_by_email", sa.String(length=254), nullable=True))
