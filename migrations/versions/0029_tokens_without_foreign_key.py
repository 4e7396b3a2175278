"""Tokens without a foreign key: those of a deleted authorization are deleted later, in batches

Revision: 0029
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

# Earlier code looks tokens up with their authorization, too, and leaves them when it deletes that.
runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
HASH = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")

_IS_SEALED = sa.text("sealed_successor IS NOT NULL")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        rebuild_without_foreign_key()
    else:
        op.drop_constraint("fk_oauth_tokens_authorization_id_oauth_authorizations", "oauth_tokens")
        op.drop_index("ix_oauth_tokens_authorization_id", "oauth_tokens")
    op.create_index(
        "ix_oauth_tokens_authorization_id_created_at",
        "oauth_tokens",
        ["authorization_id", "created_at"],
    )
    op.create_index(
        "ix_oauth_tokens_sealed",
        "oauth_tokens",
        ["authorization_id", "used_at"],
        postgresql_where=_IS_SEALED,
        sqlite_where=_IS_SEALED,
    )


def rebuild_without_foreign_key() -> None:
    """SQLite drops no constraint of a table. Its indexes go with it."""
    op.rename_table("oauth_tokens", "former_oauth_tokens")
    op.create_table(
        "oauth_tokens",
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("authorization_id", KEY, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.Column("used_at", TIME, nullable=True),
        sa.Column("sealed_successor", sa.Text(), nullable=True),
        sa.CheckConstraint("kind IN ('access', 'refresh')", name="ck_oauth_tokens_kind"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_oauth_tokens"),
    )
    names = (
        "token_hash, authorization_id, kind, scopes, created_at, expires_at, revoked_at, used_at, "
        "sealed_successor"
    )
    op.execute(f"INSERT INTO oauth_tokens ({names}) SELECT {names} FROM former_oauth_tokens")
    op.drop_table("former_oauth_tokens")
    op.create_index("ix_oauth_tokens_expires_at", "oauth_tokens", ["expires_at"])
