"""A second factor: authenticator apps, recovery codes, passkeys, and accounts that require one

Revision: 0018
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

# While hosts are upgraded one after another, those with earlier code ask for no second factor.
runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
HASH = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.add_column("users", sa.Column("second_factor_since", TIME, nullable=True))
    op.add_column("sessions", sa.Column("confirmed_at", TIME, nullable=True))
    op.add_column("accounts", sa.Column("second_factor_required_at", TIME, nullable=True))
    op.add_column(
        "accounts", sa.Column("second_factor_grace_days", sa.SmallInteger(), nullable=True)
    )
    create_factors()
    create_sign_ins()


def create_factors() -> None:
    op.create_table(
        "authenticators",
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("sealed_secret", sa.Text(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        of_person("authenticators"),
        sa.PrimaryKeyConstraint("user_id", name="pk_authenticators"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("code_hash", HASH, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("used_at", TIME, nullable=True),
        of_person("recovery_codes"),
        sa.PrimaryKeyConstraint("code_hash", name="pk_recovery_codes"),
    )
    op.create_index("ix_recovery_codes_user_id", "recovery_codes", ["user_id"])
    op.create_table(
        "passkeys",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("credential_id", sa.Text(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("transports", sa.String(length=200), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME, nullable=True),
        of_person("passkeys"),
        sa.PrimaryKeyConstraint("id", name="pk_passkeys"),
        sa.UniqueConstraint("credential_id", name="uq_passkeys_credential_id"),
    )
    op.create_index("ix_passkeys_user_id", "passkeys", ["user_id"])


def create_sign_ins() -> None:
    op.create_table(
        "pending_sign_ins",
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("current_account_id", KEY, nullable=True),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["current_account_id"],
            ["accounts.id"],
            name="fk_pending_sign_ins_current_account_id_accounts",
            ondelete="SET NULL",
        ),
        of_person("pending_sign_ins"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_pending_sign_ins"),
    )
    for column in ("user_id", "current_account_id", "expires_at"):
        op.create_index(f"ix_pending_sign_ins_{column}", "pending_sign_ins", [column])
    op.create_table(
        "used_challenges",
        sa.Column("challenge_hash", HASH, nullable=False),
        sa.Column("used_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("challenge_hash", name="pk_used_challenges"),
    )
    op.create_index("ix_used_challenges_used_at", "used_challenges", ["used_at"])


def of_person(table: str) -> Any:
    """The foreign key of rows that go with their person."""
    name = f"fk_{table}_user_id_users"
    return sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=name, ondelete="CASCADE")
