"""Requests by credential, and those that use something deprecated

Revision: 0012
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")


def upgrade() -> None:
    _create("credential_requests")
    _create("deprecated_requests", sa.Column("deprecation", sa.String(100), nullable=False))


def _create(table: str, *more: sa.Column[str]) -> None:
    keys = ("account_id", "day", "credential_id", *(column.name for column in more))
    op.create_table(
        table,
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("credential_id", KEY, nullable=False),
        *more,
        sa.Column("requests", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name=f"fk_{table}_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(*keys, name=f"pk_{table}"),
    )
    op.create_index(f"ix_{table}_day", table, ["day"])
