"""Turns of accounts when mails are sent

Revision: 0028
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

# Earlier code sends mails in the order in which they came.
runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.add_column("mails", sa.Column("turn_of", KEY, server_default="", nullable=False))
    op.add_column("mails", sa.Column("leased_at", TIME, nullable=True))
    op.create_index("ix_mails_turn_of_leased_at", "mails", ["turn_of", "leased_at"])
