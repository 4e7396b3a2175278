"""When an import was last worked on, and what was too much of its file

Accounts take turns by it.

Revision: 0026
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

# Earlier code works on imports in the order in which they came.
runs_earlier_code = True

TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.add_column("imports", sa.Column("leased_at", TIME, nullable=True))
    op.add_column(
        "imports", sa.Column("is_long", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.add_column(
        "imports", sa.Column("costly_layers", sa.JSON(), server_default="[]", nullable=False)
    )
    op.create_index("ix_imports_account_id_leased_at", "imports", ["account_id", "leased_at"])
