"""The audit log, its checkpoints, and the keys that sign them

Revision: 0017
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
HASH = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("action", sa.String(60), nullable=False),
        sa.Column("actor_id", KEY),
        sa.Column("target_id", KEY),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("mac", HASH, nullable=False),
        sa.Column("number", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    for columns in (
        ["account_id", "id"],
        ["account_id", "action", "id"],
        ["account_id", "actor_id", "id", "action"],
        ["account_id", "target_id", "id", "action", "actor_id"],
    ):
        op.create_index(f"ix_audit_entries_{'_'.join(columns)}", "audit_entries", columns)
    waiting, sealed = sa.text("number IS NULL"), sa.text("number IS NOT NULL")
    op.create_index(
        "ix_audit_entries_account_id_number",
        "audit_entries",
        ["account_id", "number"],
        unique=True,
        postgresql_where=sealed,
        sqlite_where=sealed,
    )
    op.create_index(
        "ix_audit_entries_waiting",
        "audit_entries",
        ["account_id", "id"],
        postgresql_where=waiting,
        sqlite_where=waiting,
    )
    op.create_table(
        "audit_checkpoints",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger, nullable=False),
        sa.Column("last", sa.BigInteger, nullable=False),
        sa.Column("sealed_at", TIME, nullable=False),
        sa.Column("previous_hash", HASH, nullable=False),
        sa.Column("hash", HASH, nullable=False),
        sa.Column("key_id", KEY, nullable=False),
        sa.Column("signature", sa.String(128), nullable=False),
        sa.Column("entry_hashes", sa.Text),
        sa.PrimaryKeyConstraint("account_id", "number", name=op.f("pk_audit_checkpoints")),
    )
    op.create_table(
        "signing_keys",
        sa.Column("id", KEY, nullable=False),
        sa.Column("public_key", sa.Text, nullable=False),
        sa.Column("sealed_private_key", sa.Text, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signing_keys")),
    )
