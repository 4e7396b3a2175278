"""Turns of accounts: when an import was last worked on, and boundaries that wait, by account

Imports also say what took too much of their file.

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

_WAITING = sa.text("replaced_at IS NULL AND simplified_at IS NULL")
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
    op.drop_index("ix_boundaries_waiting", "boundaries")
    op.create_index(
        "ix_boundaries_waiting",
        "boundaries",
        ["account_id", "project_id"],
        postgresql_where=_WAITING,
        sqlite_where=_WAITING,
    )
