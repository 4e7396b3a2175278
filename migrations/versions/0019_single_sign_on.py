"""Identities at an OpenID Connect provider, and sign-ins that are under way

Revision: 0019
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
HASH = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.create_table(
        "sign_in_identities",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("issuer", sa.String(500), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name="fk_sign_in_identities_user_id_users",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sign_in_identities"),
        sa.UniqueConstraint("issuer", "subject", name="uq_sign_in_identities_issuer_subject"),
    )
    op.create_index("ix_sign_in_identities_user_id", "sign_in_identities", ["user_id"])
    op.create_table(
        "sign_in_attempts",
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("user_id", KEY, nullable=True),
        sa.Column("returned_at", TIME, nullable=True),
        sa.Column("issuer", sa.String(500), nullable=True),
        sa.Column("subject", sa.String(255), nullable=True),
        sa.Column("email", sa.String(254), nullable=True),
        sa.Column("name", sa.String(200), nullable=True),
        sa.Column("link_hash", HASH, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name="fk_sign_in_attempts_user_id_users",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("token_hash", name="pk_sign_in_attempts"),
    )
    op.create_index("ix_sign_in_attempts_user_id", "sign_in_attempts", ["user_id"])
    op.create_index("ix_sign_in_attempts_expires_at", "sign_in_attempts", ["expires_at"])
    op.create_index("ix_sign_in_attempts_link_hash", "sign_in_attempts", ["link_hash"], unique=True)
