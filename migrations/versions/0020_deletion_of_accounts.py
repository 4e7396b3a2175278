"""Accounts whose deletion is scheduled

Revision: 0020
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

# Earlier code does not show that an account will be deleted, and deletes none.
runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.add_column("accounts", sa.Column("deletes_at", TIME, nullable=True))
    op.add_column("accounts", sa.Column("deletion_scheduled_by", KEY, nullable=True))
    where = {
        f"{dialect}_where": sa.text("deletes_at IS NOT NULL")
        for dialect in ("postgresql", "sqlite")
    }
    op.create_index("ix_accounts_deletes_at", "accounts", ["deletes_at"], **where)
