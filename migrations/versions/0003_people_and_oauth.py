"""People and OAuth: sessions, links, mails, applications and what they were granted

Revision: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
HASH = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.add_column("memberships", sa.Column("invitation_hash", HASH, nullable=True))
    op.add_column("memberships", sa.Column("invitation_expires_at", TIME, nullable=True))
    op.create_index(
        "ix_memberships_invitation_hash", "memberships", ["invitation_hash"], unique=True
    )
    create_tables_of_people()
    create_mails()
    create_oauth_tables()


def create_tables_of_people() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("current_account_id", KEY, nullable=True),
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("address", sa.String(length=45), nullable=False),
        sa.Column("browser", sa.String(length=300), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["current_account_id"],
            ["accounts.id"],
            name="fk_sessions_current_account_id_accounts",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_sessions_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.UniqueConstraint("token_hash", name="uq_sessions_token_hash"),
    )
    op.create_index("ix_sessions_current_account_id", "sessions", ["current_account_id"])
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])
    op.create_table(
        "sign_ups",
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("account_name", sa.String(length=200), nullable=False),
        sa.Column("account_slug", sa.String(length=63), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_sign_ups"),
    )
    op.create_index("ix_sign_ups_expires_at", "sign_ups", ["expires_at"])
    op.create_table(
        "mailed_links",
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.CheckConstraint(
            "purpose IN ('reset_password', 'verify_email')", name="ck_mailed_links_purpose"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_mailed_links_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name="pk_mailed_links"),
    )
    op.create_index("ix_mailed_links_expires_at", "mailed_links", ["expires_at"])
    op.create_index("ix_mailed_links_user_id", "mailed_links", ["user_id"])
    op.create_table(
        "sign_in_failures",
        sa.Column("key", HASH, nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("began_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_sign_in_failures"),
    )
    op.create_index("ix_sign_in_failures_began_at", "sign_in_failures", ["began_at"])


def create_mails() -> None:
    op.create_table(
        "mails",
        sa.Column("id", KEY, nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("cause", sa.String(length=200), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", TIME, nullable=True),
        sa.Column("sent_at", TIME, nullable=True),
        sa.Column("error", sa.String(length=200), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_mails"),
    )
    op.create_index("ix_mails_cause", "mails", ["cause"], unique=True)
    op.create_index("ix_mails_created_at", "mails", ["created_at"])
    op.create_index("ix_mails_due_at", "mails", ["due_at"])


def create_oauth_tables() -> None:
    op.create_table(
        "oauth_applications",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("redirect_uris", sa.JSON(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("secret_hash", HASH, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_oauth_applications_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_oauth_applications"),
    )
    op.create_index(
        "ix_oauth_applications_account_id_id", "oauth_applications", ["account_id", "id"]
    )
    op.create_table(
        "oauth_consents",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("application_id", KEY, nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id", "user_id"],
            ["memberships.account_id", "memberships.user_id"],
            name="fk_oauth_consents_membership",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["oauth_applications.id"],
            name="fk_oauth_consents_application_id_oauth_applications",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "account_id", "user_id", "application_id", name="pk_oauth_consents"
        ),
    )
    op.create_index("ix_oauth_consents_application_id", "oauth_consents", ["application_id"])
    op.create_index("ix_oauth_consents_user_id", "oauth_consents", ["user_id"])
    op.create_table(
        "oauth_authorizations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("application_id", KEY, nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("code_hash", HASH, nullable=False),
        sa.Column("redirect_uri", sa.Text(), nullable=False),
        sa.Column("code_challenge", sa.String(length=128), nullable=True),
        sa.Column("code_expires_at", TIME, nullable=False),
        sa.Column("code_used_at", TIME, nullable=True),
        sa.Column("last_used_at", TIME, nullable=True),
        sa.Column("ends_at", TIME, nullable=False),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id", "user_id", "application_id"],
            [
                "oauth_consents.account_id",
                "oauth_consents.user_id",
                "oauth_consents.application_id",
            ],
            name="fk_oauth_authorizations_consent",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_oauth_authorizations"),
        sa.UniqueConstraint("code_hash", name="uq_oauth_authorizations_code_hash"),
    )
    op.create_index(
        "ix_oauth_authorizations_account_id_user_id_application_id",
        "oauth_authorizations",
        ["account_id", "user_id", "application_id"],
    )
    op.create_index("ix_oauth_authorizations_ends_at", "oauth_authorizations", ["ends_at"])
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
        sa.ForeignKeyConstraint(
            ["authorization_id"],
            ["oauth_authorizations.id"],
            name="fk_oauth_tokens_authorization_id_oauth_authorizations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("token_hash", name="pk_oauth_tokens"),
    )
    op.create_index("ix_oauth_tokens_authorization_id", "oauth_tokens", ["authorization_id"])
    op.create_index("ix_oauth_tokens_expires_at", "oauth_tokens", ["expires_at"])
