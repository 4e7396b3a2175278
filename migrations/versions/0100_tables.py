"""The tables of Canopy 1.0

Revision: 0100. Those below it were of versions before 1.0, from which nothing leads here.

Where two indexes of a table fit a statement alike, the order in which they are made decides.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0100"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
HASH = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
EXTERNAL_ID = sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql")
SORTABLE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
ROW = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    # The oldest revision whose code runs on these tables, as app.db.migrations notes it down.
    op.add_column("alembic_version", sa.Column("oldest_code", sa.String(32)))
    create_accounts_and_people()
    create_sign_in()
    create_credentials()
    create_oauth()
    create_billing()
    create_audit_log()
    create_projects()
    create_imports()
    create_events_and_deliveries()
    index_for_search()


def create_accounts_and_people() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("slug", sa.String(63), nullable=False),
        sa.Column("type", sa.String(20), nullable=False),
        sa.Column("plan", sa.String(50), nullable=False),
        sa.Column("second_factor_required_at", TIME),
        sa.Column("second_factor_grace_days", sa.SmallInteger()),
        sa.Column("deletes_at", TIME),
        sa.Column("deletion_scheduled_by", KEY),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.CheckConstraint("type IN ('individual', 'organization')", name="type"),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("slug", name="uq_accounts_slug"),
    )
    partial_index("ix_accounts_deletes_at", "accounts", ["deletes_at"], "deletes_at IS NOT NULL")
    op.create_index("ix_accounts_created_at_id", "accounts", ["created_at", "id"])

    op.create_table(
        "users",
        sa.Column("id", KEY, nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("email_key", sa.String(254), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("password_hash", sa.String(200)),
        sa.Column("email_verified_at", TIME),
        sa.Column("time_zone", sa.String(64)),
        sa.Column("date_format", sa.String(20)),
        sa.Column("second_factor_since", TIME),
        sa.Column("operator_since", TIME),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("email_key", name="uq_users_email_key"),
    )
    op.create_index("ix_users_created_at_id", "users", ["created_at", "id"])

    op.create_table(
        "memberships",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("invited_at", TIME),
        sa.Column("invitation_hash", HASH),
        sa.Column("invitation_expires_at", TIME),
        sa.Column("joined_at", TIME),
        sa.Column("last_active_at", TIME),
        sa.Column("created_at", TIME, nullable=False),
        sa.CheckConstraint("role IN ('viewer', 'editor', 'admin', 'owner')", name="role"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_memberships_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_memberships_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "user_id", name="pk_memberships"),
    )
    op.create_index("ix_memberships_user_id", "memberships", ["user_id"])
    op.create_index(
        "ix_memberships_invitation_hash", "memberships", ["invitation_hash"], unique=True
    )

    op.create_table(
        "account_usage",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("projects_active", sa.BigInteger(), nullable=False),
        sa.Column("projects_archived", sa.BigInteger(), nullable=False),
        sa.Column("projects_draft", sa.BigInteger(), nullable=False),
        sa.Column("area_m2", sa.BigInteger(), nullable=False),
        sa.Column("members", sa.BigInteger(), nullable=False),
        sa.Column("stored_bytes", sa.BigInteger(), nullable=False),
        sa.Column("history_bytes", sa.BigInteger(), nullable=False),
        sa.Column("map_version", sa.BigInteger(), nullable=False),
        sa.Column("lists_version", sa.BigInteger(), nullable=False),
        sa.Column("hectares_level", sa.SmallInteger(), nullable=False),
        sa.Column("members_level", sa.SmallInteger(), nullable=False),
        sa.Column("requests_level", sa.SmallInteger(), nullable=False),
        sa.Column("requests_period", sa.String(7), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_account_usage_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name="pk_account_usage"),
    )

    op.create_table(
        "request_counts",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("requests", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_request_counts_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "day", name="pk_request_counts"),
    )

    op.create_table(
        "instance_state",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("sign_up_closed_at", TIME),
        sa.Column("message", sa.String(500)),
        sa.Column("message_kind", sa.String(20)),
        sa.Column("message_until", TIME),
        sa.CheckConstraint("message_kind IN ('information', 'warning')", name="message_kind"),
        sa.CheckConstraint("id = 1", name="one_row"),
        sa.PrimaryKeyConstraint("id", name="pk_instance_state"),
    )


def create_sign_in() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("current_account_id", KEY),
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("address", sa.String(45), nullable=False),
        sa.Column("browser", sa.String(300), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME, nullable=False),
        sa.Column("confirmed_at", TIME),
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
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("password_hash", sa.String(200), nullable=False),
        sa.Column("account_name", sa.String(200), nullable=False),
        sa.Column("account_slug", sa.String(63), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_sign_ups"),
    )
    op.create_index("ix_sign_ups_expires_at", "sign_ups", ["expires_at"])

    op.create_table(
        "mailed_links",
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("purpose", sa.String(20), nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.CheckConstraint("purpose IN ('reset_password', 'verify_email')", name="purpose"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_mailed_links_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name="pk_mailed_links"),
    )
    op.create_index("ix_mailed_links_expires_at", "mailed_links", ["expires_at"])
    op.create_index("ix_mailed_links_user_id", "mailed_links", ["user_id"])

    op.create_table(
        "mails",
        sa.Column("id", KEY, nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("recipient", sa.String(254), nullable=False),
        sa.Column("cause", sa.String(200), nullable=False),
        sa.Column("turn_of", KEY, nullable=False),
        sa.Column("sealed", sa.Text()),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", TIME),
        sa.Column("leased_at", TIME),
        sa.Column("sent_at", TIME),
        sa.Column("error", sa.String(200)),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_mails"),
    )
    op.create_index("ix_mails_cause", "mails", ["cause"], unique=True)
    op.create_index("ix_mails_created_at", "mails", ["created_at"])
    op.create_index("ix_mails_due_at", "mails", ["due_at"])
    op.create_index("ix_mails_turn_of_leased_at", "mails", ["turn_of", "leased_at"])

    op.create_table(
        "sign_in_failures",
        sa.Column("key", HASH, nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("began_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_sign_in_failures"),
    )
    op.create_index("ix_sign_in_failures_began_at", "sign_in_failures", ["began_at"])

    op.create_table(
        "sign_in_attempts",
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("user_id", KEY),
        sa.Column("returned_at", TIME),
        sa.Column("issuer", sa.String(500)),
        sa.Column("subject", sa.String(255)),
        sa.Column("email", sa.String(254)),
        sa.Column("name", sa.String(200)),
        sa.Column("link_hash", HASH),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_sign_in_attempts_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name="pk_sign_in_attempts"),
    )
    op.create_index("ix_sign_in_attempts_user_id", "sign_in_attempts", ["user_id"])
    op.create_index("ix_sign_in_attempts_expires_at", "sign_in_attempts", ["expires_at"])
    op.create_index("ix_sign_in_attempts_link_hash", "sign_in_attempts", ["link_hash"], unique=True)

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
        "pending_sign_ins",
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("current_account_id", KEY),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["current_account_id"],
            ["accounts.id"],
            name="fk_pending_sign_ins_current_account_id_accounts",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_pending_sign_ins_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name="pk_pending_sign_ins"),
    )
    op.create_index("ix_pending_sign_ins_user_id", "pending_sign_ins", ["user_id"])
    op.create_index(
        "ix_pending_sign_ins_current_account_id", "pending_sign_ins", ["current_account_id"]
    )
    op.create_index("ix_pending_sign_ins_expires_at", "pending_sign_ins", ["expires_at"])

    op.create_table(
        "authenticators",
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("sealed_secret", sa.Text(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_authenticators_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name="pk_authenticators"),
    )

    op.create_table(
        "passkeys",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("credential_id", sa.Text(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("transports", sa.String(200), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_passkeys_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_passkeys"),
        sa.UniqueConstraint("credential_id", name="uq_passkeys_credential_id"),
    )
    op.create_index("ix_passkeys_user_id", "passkeys", ["user_id"])

    op.create_table(
        "recovery_codes",
        sa.Column("code_hash", HASH, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("used_at", TIME),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_recovery_codes_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("code_hash", name="pk_recovery_codes"),
    )
    op.create_index("ix_recovery_codes_user_id", "recovery_codes", ["user_id"])

    op.create_table(
        "used_challenges",
        sa.Column("challenge_hash", HASH, nullable=False),
        sa.Column("used_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("challenge_hash", name="pk_used_challenges"),
    )
    op.create_index("ix_used_challenges_used_at", "used_challenges", ["used_at"])


def create_credentials() -> None:
    op.create_table(
        "credentials",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("permissions", sa.JSON(), nullable=False),
        sa.Column("project_ids", sa.JSON()),
        sa.Column("ip_allowlist", sa.JSON()),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("token_end", sa.String(4), nullable=False),
        sa.Column("created_by", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME),
        sa.Column("expiry_mailed_at", TIME),
        sa.Column("last_used_at", TIME),
        sa.Column("last_used_address", sa.String(45)),
        sa.Column("revoked_at", TIME),
        sa.CheckConstraint("kind IN ('api_key', 'service_token')", name="kind"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_credentials_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name="fk_credentials_created_by_users"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_credentials"),
        sa.UniqueConstraint("token_hash", name="uq_credentials_token_hash"),
    )
    op.create_index("ix_credentials_account_id_id", "credentials", ["account_id", "id"])
    partial_index(
        "ix_credentials_expiring",
        "credentials",
        ["expires_at"],
        "expires_at IS NOT NULL AND expiry_mailed_at IS NULL AND revoked_at IS NULL",
    )

    op.create_table(
        "credential_requests",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("credential_id", KEY, nullable=False),
        sa.Column("requests", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_credential_requests_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "account_id", "day", "credential_id", name="pk_credential_requests"
        ),
    )
    op.create_index("ix_credential_requests_day", "credential_requests", ["day"])

    op.create_table(
        "idempotent_answers",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_idempotent_answers_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "key", name="pk_idempotent_answers"),
    )
    op.create_index("ix_idempotent_answers_created_at", "idempotent_answers", ["created_at"])


def create_oauth() -> None:
    op.create_table(
        "oauth_applications",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("redirect_uris", sa.JSON(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("secret_hash", HASH),
        sa.Column("former_secret_hash", HASH),
        sa.Column("former_secret_until", TIME),
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
        sa.Column("redirect_uris", sa.JSON(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["oauth_applications.id"],
            name="fk_oauth_consents_application_id_oauth_applications",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["account_id", "user_id"],
            ["memberships.account_id", "memberships.user_id"],
            name="fk_oauth_consents_membership",
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
        sa.Column("code_challenge", sa.String(128)),
        sa.Column("code_expires_at", TIME, nullable=False),
        sa.Column("code_used_at", TIME),
        sa.Column("last_used_at", TIME),
        sa.Column("ends_at", TIME, nullable=False),
        sa.Column("revoked_at", TIME),
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
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("revoked_at", TIME),
        sa.Column("used_at", TIME),
        sa.Column("sealed_successor", sa.Text()),
        sa.CheckConstraint("kind IN ('access', 'refresh')", name="kind"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_oauth_tokens"),
    )
    op.create_index("ix_oauth_tokens_expires_at", "oauth_tokens", ["expires_at"])
    op.create_index(
        "ix_oauth_tokens_authorization_id_created_at",
        "oauth_tokens",
        ["authorization_id", "created_at"],
    )
    partial_index(
        "ix_oauth_tokens_sealed",
        "oauth_tokens",
        ["authorization_id", "used_at"],
        "sealed_successor IS NOT NULL",
    )


def create_billing() -> None:
    op.create_table(
        "billing_events",
        sa.Column("source", sa.String(20), nullable=False),
        sa.Column("id", EXTERNAL_ID, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("type", sa.String(40), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("received_at", TIME, nullable=False),
        sa.CheckConstraint("source IN ('billing', 'payment_provider')", name="source"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_billing_events_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source", "id", name="pk_billing_events"),
    )
    op.create_index(
        "ix_billing_events_account_id_created_at_id",
        "billing_events",
        ["account_id", "created_at", "id"],
    )

    op.create_table(
        "billing_subscriptions",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("newest", sa.Text(), nullable=False),
        sa.Column("newest_with_plan", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_billing_subscriptions_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name="pk_billing_subscriptions"),
    )

    op.create_table(
        "billing_customers",
        sa.Column("customer_id", EXTERNAL_ID, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("named_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_billing_customers_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("customer_id", name="pk_billing_customers"),
    )
    op.create_index("ix_billing_customers_account_id", "billing_customers", ["account_id"])


def create_audit_log() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("action", sa.String(60), nullable=False),
        sa.Column("actor_id", KEY),
        sa.Column("target_id", KEY),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entries"),
    )
    op.create_index("ix_audit_entries_account_id_id", "audit_entries", ["account_id", "id"])
    op.create_index(
        "ix_audit_entries_account_id_action_id", "audit_entries", ["account_id", "action", "id"]
    )
    op.create_index(
        "ix_audit_entries_account_id_actor_id_id_action",
        "audit_entries",
        ["account_id", "actor_id", "id", "action"],
    )
    op.create_index(
        "ix_audit_entries_account_id_target_id_id_action_actor_id",
        "audit_entries",
        ["account_id", "target_id", "id", "action", "actor_id"],
    )
    partial_index(
        "ix_audit_entries_account_id_number",
        "audit_entries",
        ["account_id", "number"],
        "number IS NOT NULL",
        unique=True,
    )
    partial_index(
        "ix_audit_entries_waiting", "audit_entries", ["account_id", "id"], "number IS NULL"
    )

    op.create_table(
        "audit_checkpoints",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("sealed_at", TIME, nullable=False),
        sa.Column("previous_hash", HASH, nullable=False),
        sa.Column("hash", HASH, nullable=False),
        sa.Column("key_id", KEY, nullable=False),
        sa.Column("signature", sa.String(128), nullable=False),
        sa.Column("entry_hashes", sa.Text()),
        sa.PrimaryKeyConstraint("account_id", "number", name="pk_audit_checkpoints"),
    )
    partial_index(
        "ix_audit_checkpoints_with_entries",
        "audit_checkpoints",
        ["account_id", "number"],
        "entry_hashes IS NOT NULL",
    )

    op.create_table(
        "signing_keys",
        sa.Column("id", KEY, nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("sealed_private_key", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_signing_keys"),
    )


def create_projects() -> None:
    op.create_table(
        "projects",
        sa.Column("row", ROW, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("area_m2", sa.BigInteger()),
        sa.Column("west", sa.Double()),
        sa.Column("south", sa.Double()),
        sa.Column("east", sa.Double()),
        sa.Column("north", sa.Double()),
        sa.Column("stored_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("slug", sa.String(63), nullable=False),
        sa.Column("external_id", sa.String(200)),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("name_key", SORTABLE, nullable=False),
        sa.Column("search_text", SORTABLE, nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("country", sa.String(2)),
        sa.Column("country_version", sa.SmallInteger()),
        sa.Column("metadata", sa.Text()),
        sa.Column("deleted_at", TIME),
        sa.Column("geometry", sa.Text()),
        sa.CheckConstraint("status IN ('active', 'archived', 'draft')", name="status"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_projects_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("row", name="pk_projects"),
        sa.UniqueConstraint("account_id", "slug", name="uq_projects_account_id_slug"),
        sa.UniqueConstraint("id", name="uq_projects_id"),
    )
    op.create_index(
        "ix_projects_account_id_created_at_id", "projects", ["account_id", "created_at", "id"]
    )
    op.create_index(
        "ix_projects_account_id_name_key_id", "projects", ["account_id", "name_key", "id"]
    )
    op.create_index(
        "ix_projects_account_id_status_created_at_id",
        "projects",
        ["account_id", "status", "created_at", "id"],
    )
    op.create_index(
        "ix_projects_account_id_status_name_key_id",
        "projects",
        ["account_id", "status", "name_key", "id"],
    )
    op.create_index(
        "ix_projects_account_id_status_area_m2_id",
        "projects",
        ["account_id", "status", area(), "id"],
    )
    partial_index(
        "ix_projects_account_id_external_id",
        "projects",
        ["account_id", "external_id"],
        "external_id IS NOT NULL",
        unique=True,
    )
    op.create_index(
        "ix_projects_account_id_updated_at_id", "projects", ["account_id", "updated_at", "id"]
    )
    op.create_index(
        "ix_projects_account_id_status_updated_at_id",
        "projects",
        ["account_id", "status", "updated_at", "id"],
    )
    op.create_index(
        "ix_projects_account_id_area_m2_id",
        "projects",
        ["account_id", area(), "id", "status", "west", "south", "east", "north"],
    )
    partial_index("ix_projects_deleted", "projects", ["account_id", "id"], "deleted_at IS NOT NULL")
    partial_index(
        "ix_projects_without_country",
        "projects",
        ["id"],
        "country_version IS NULL AND area_m2 IS NOT NULL",
    )

    op.create_table(
        "assets",
        sa.Column("row", ROW, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("type", sa.String(50), nullable=False),
        sa.Column("status", sa.String(50), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("longitude", sa.Double()),
        sa.Column("latitude", sa.Double()),
        sa.Column("external_id", sa.String(200)),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("search_text", SORTABLE, nullable=False),
        sa.Column("location", sa.Text()),
        sa.Column("metadata", sa.Text()),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_assets_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_assets_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("row", name="pk_assets"),
        sa.UniqueConstraint("id", name="uq_assets_id"),
    )
    op.create_index(
        "ix_assets_project_id_account_id_created_at_id",
        "assets",
        ["project_id", "account_id", "created_at", "id"],
    )
    op.create_index(
        "ix_assets_project_id_account_id_status_created_at_id",
        "assets",
        ["project_id", "account_id", "status", "created_at", "id"],
    )
    op.create_index(
        "ix_assets_project_id_account_id_type_created_at_id_status",
        "assets",
        ["project_id", "account_id", "type", "created_at", "id", "status"],
    )
    op.create_index(
        "ix_assets_project_id_account_id_updated_at_id",
        "assets",
        ["project_id", "account_id", "updated_at", "id"],
    )
    op.create_index(
        "ix_assets_account_id_created_at_id", "assets", ["account_id", "created_at", "id"]
    )
    op.create_index(
        "ix_assets_account_id_updated_at_id", "assets", ["account_id", "updated_at", "id"]
    )
    op.create_index(
        "ix_assets_account_id_status_created_at_id",
        "assets",
        ["account_id", "status", "created_at", "id"],
    )
    op.create_index(
        "ix_assets_account_id_type_created_at_id_status",
        "assets",
        ["account_id", "type", "created_at", "id", "status"],
    )
    partial_index(
        "ix_assets_account_id_external_id_project_id",
        "assets",
        ["account_id", "external_id", "project_id"],
        "external_id IS NOT NULL",
        unique=True,
    )

    op.create_table(
        "boundaries",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("replaced_at", TIME),
        sa.Column("simplified_at", TIME),
        sa.Column("created_by", KEY),
        sa.Column("created_by_email", sa.String(254)),
        sa.Column("source", sa.String(10), nullable=False),
        sa.Column("area_m2", sa.BigInteger(), nullable=False),
        sa.Column("added_m2", sa.BigInteger()),
        sa.Column("removed_m2", sa.BigInteger()),
        sa.Column("checksum", sa.BigInteger(), nullable=False),
        sa.Column("stored_bytes", sa.BigInteger(), nullable=False),
        sa.Column("geometry", sa.Text()),
        sa.CheckConstraint(
            "source IN ('api', 'import', 'dashboard', 'cli', 'database', 'ogc')", name="source"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_boundaries_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name="pk_boundaries"),
    )
    partial_index(
        "ix_boundaries_present",
        "boundaries",
        ["project_id", "account_id"],
        "replaced_at IS NULL",
        unique=True,
    )
    partial_index(
        "ix_boundaries_storing", "boundaries", ["account_id", "stored_bytes"], "stored_bytes > 0"
    )
    partial_index(
        "ix_boundaries_waiting",
        "boundaries",
        ["account_id", "project_id"],
        "replaced_at IS NULL AND simplified_at IS NULL",
    )

    op.create_table(
        "boundary_shapes",
        sa.Column("project_row", ROW, autoincrement=False, nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("area_m2", sa.BigInteger(), nullable=False),
        sa.Column("geometry", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_row"],
            ["projects.row"],
            name="fk_boundary_shapes_project_row_projects",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_row", "level", name="pk_boundary_shapes"),
    )


def create_imports() -> None:
    op.create_table(
        "imports",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("project_id", KEY),
        sa.Column("source", sa.String(10), nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("user_email", sa.String(254), nullable=False),
        sa.Column("acted_by", KEY),
        sa.Column("acted_by_email", sa.String(254)),
        sa.Column("acted_as", sa.JSON()),
        sa.Column("filename", sa.String(200), nullable=False),
        sa.Column("upload_id", KEY),
        sa.Column("format", sa.String(10)),
        sa.Column("crs", sa.Text()),
        sa.Column("given_crs", sa.Text()),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("layers", sa.JSON(), nullable=False),
        sa.Column("layer", sa.Text()),
        sa.Column("mapping", sa.JSON()),
        sa.Column("match", sa.String(20)),
        sa.Column("close_lines", sa.Boolean(), nullable=False),
        sa.Column("swap", sa.Boolean(), nullable=False),
        sa.Column("corners_by", sa.Text()),
        sa.Column("without_boundaries", sa.Boolean(), nullable=False),
        sa.Column("points_as_plots", sa.Boolean()),
        sa.Column("project_made_at", TIME),
        sa.Column("questions", sa.JSON(), nullable=False),
        sa.Column("left_out", sa.JSON(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("progress_done", sa.Integer(), nullable=False),
        sa.Column("progress_total", sa.Integer(), nullable=False),
        sa.Column("message", sa.Text()),
        sa.Column("lease", KEY),
        sa.Column("leased_at", TIME),
        sa.Column("leased_until", TIME),
        sa.Column("is_long", sa.Boolean(), nullable=False),
        sa.Column("costly_layers", sa.JSON(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.CheckConstraint("kind IN ('projects', 'assets')", name="kind"),
        sa.CheckConstraint(
            "status IN ('reading', 'ready', 'applying', 'applied', "
            "'undoing', 'undone', 'failed', 'canceled')",
            name="status",
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_imports_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_imports"),
    )
    op.create_index(
        "ix_imports_account_id_created_at_id", "imports", ["account_id", "created_at", "id"]
    )
    op.create_index("ix_imports_created_at", "imports", ["created_at"])
    op.create_index("ix_imports_status", "imports", ["status"])
    op.create_index("ix_imports_account_id_leased_at", "imports", ["account_id", "leased_at"])

    op.create_table(
        "import_files",
        sa.Column("upload_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_import_files_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("upload_id", "number", name="pk_import_files"),
    )
    op.create_index("ix_import_files_created_at", "import_files", ["created_at"])

    op.create_table(
        "import_features",
        sa.Column("import_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("verdict", sa.String(10), nullable=False),
        sa.Column("target_id", KEY),
        sa.Column("area_m2", sa.BigInteger()),
        sa.Column("previous_area_m2", sa.BigInteger()),
        sa.Column("left_out", sa.Boolean(), nullable=False),
        sa.Column("is_plot", sa.Boolean(), nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("metadata_changes", sa.JSON(), nullable=False),
        sa.Column("is_namesake", sa.Boolean(), nullable=False),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("outside", sa.Boolean()),
        sa.Column("overlaps", sa.JSON()),
        sa.Column("overlap_m2", sa.BigInteger()),
        sa.Column("state", sa.String(10)),
        sa.Column("written_at", TIME),
        sa.Column("values", sa.JSON(), nullable=False),
        sa.Column("before", sa.JSON()),
        sa.Column("geometry", sa.Text()),
        sa.CheckConstraint("verdict IN ('new', 'changed', 'same', 'rejected')", name="verdict"),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["imports.id"],
            name="fk_import_features_import_id_imports",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("import_id", "number", name="pk_import_features"),
    )
    op.create_index(
        "ix_import_features_import_id_verdict_number",
        "import_features",
        ["import_id", "verdict", "number"],
    )


def create_events_and_deliveries() -> None:
    op.create_table(
        "events",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("type", sa.String(40), nullable=False),
        sa.Column("subject_id", KEY, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_events_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
    )
    op.create_index("ix_events_account_id_id", "events", ["account_id", "id"])
    op.create_index("ix_events_subject_id_id", "events", ["subject_id", "id"])
    op.create_index("ix_events_account_id_type_id", "events", ["account_id", "type", "id"])

    op.create_table(
        "webhooks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("disabled_reason", sa.String(20)),
        sa.Column("sealed_secret", sa.Text(), nullable=False),
        sa.Column("sealed_former_secret", sa.Text()),
        sa.Column("former_secret_until", TIME),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("last_success_at", TIME),
        sa.Column("consecutive_failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", TIME),
        sa.Column("given_up_at", TIME),
        sa.Column("warned_at", TIME),
        sa.Column("canceled_at", TIME),
        sa.Column("deleted_at", TIME),
        sa.CheckConstraint(
            "disabled_reason IN ('manual', 'failing', 'gone')", name="disabled_reason"
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_webhooks_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_index("ix_webhooks_account_id_id", "webhooks", ["account_id", "id"])

    op.create_table(
        "deliveries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("webhook_id", KEY, nullable=False),
        sa.Column("event_id", KEY, nullable=False),
        sa.Column("cause", sa.String(10), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", TIME),
        sa.Column("claim", KEY),
        sa.Column("created_at", TIME, nullable=False),
        sa.CheckConstraint("cause IN ('event', 'test', 'replay', 'redelivery')", name="cause"),
        sa.CheckConstraint("state IN ('pending', 'succeeded', 'failed', 'canceled')", name="state"),
        sa.ForeignKeyConstraint(
            ["event_id"], ["events.id"], name="fk_deliveries_event_id_events", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name="fk_deliveries_webhook_id_webhooks",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    partial_index("ix_deliveries_due", "deliveries", ["webhook_id", "due_at"], "due_at IS NOT NULL")
    op.create_index("ix_deliveries_event_id_webhook_id", "deliveries", ["event_id", "webhook_id"])

    op.create_table(
        "delivery_logs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("webhook_id", KEY, nullable=False),
        sa.Column("delivery_id", KEY, nullable=False),
        sa.Column("event_id", KEY, nullable=False),
        sa.Column("event_type", sa.String(40), nullable=False),
        sa.Column("cause", sa.String(10), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("response_code", sa.Integer()),
        sa.Column("response_time_ms", sa.Integer(), nullable=False),
        sa.Column("error", sa.String(100)),
        sa.Column("sent_at", TIME, nullable=False),
        sa.Column("delivered_at", TIME, nullable=False),
        sa.Column("next_retry_at", TIME),
        sa.Column("resolve_ms", sa.Integer()),
        sa.Column("connect_ms", sa.Integer()),
        sa.Column("tls_ms", sa.Integer()),
        sa.Column("wait_ms", sa.Integer()),
        sa.CheckConstraint("status IN ('success', 'failed')", name="status"),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name="fk_delivery_logs_webhook_id_webhooks",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_delivery_logs"),
    )
    op.create_index(
        "ix_delivery_logs_webhook_id_id_status_event_type_delivered_at",
        "delivery_logs",
        ["webhook_id", "id", "status", "event_type", "delivered_at"],
    )
    op.create_index("ix_delivery_logs_delivery_id", "delivery_logs", ["delivery_id"])

    op.create_table(
        "attempt_counts",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("webhook_id", KEY, nullable=False),
        sa.Column("hour", TIME, nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("took_ms", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.CheckConstraint("status IN ('success', 'failed')", name="status"),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name="fk_attempt_counts_webhook_id_webhooks",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "webhook_id", "hour", "status", "took_ms", name="pk_attempt_counts"
        ),
    )
    op.create_index("ix_attempt_counts_hour", "attempt_counts", ["hour"])

    op.create_table(
        "replays",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("webhook_id", KEY, nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.Column("event_types", sa.JSON(), nullable=False),
        sa.Column("only_failed", sa.Boolean(), nullable=False),
        sa.Column("last_event_id", KEY, nullable=False),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("queued", sa.Integer(), nullable=False),
        sa.Column("ended_at", TIME),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name="fk_replays_webhook_id_webhooks",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_replays"),
    )
    op.create_index("ix_replays_next_at", "replays", ["next_at"])
    op.create_index("ix_replays_webhook_id", "replays", ["webhook_id"])


def area() -> sa.TextClause:
    """A project without an area counts as the smallest on both databases."""
    return sa.text("area_m2" if op.get_bind().dialect.name == "sqlite" else "area_m2 NULLS FIRST")


def partial_index(
    name: str, table: str, columns: list[str], where: str, *, unique: bool = False
) -> None:
    op.create_index(
        name,
        table,
        columns,
        unique=unique,
        postgresql_where=sa.text(where),
        sqlite_where=sa.text(where),
    )


def index_for_search() -> None:
    """The texts and the boxes of projects by their account, of assets by their project, and once
    more by their account."""
    if op.get_bind().dialect.name == "sqlite":
        index = index_on_sqlite
    else:
        index = index_on_postgresql
        op.execute(GRAMS)
        op.execute(BOX)
    point = ("longitude", "latitude", "longitude", "latitude")
    index("projects", "projects", "account_id", ("west", "south", "east", "north"))
    index("assets", "assets", "project_id", point)
    index("account_assets", "assets", "account_id", point)


def index_on_sqlite(name: str, table: str, owner: str, box: tuple[str, str, str, str]) -> None:
    """A trigram index and an R*Tree beside the table, kept in step by triggers.

    Triggers, so that they are in step whatever wrote the row. Each entry has a mark made of the
    end of its owner's id, so that a search stays among the owner's own: in the trigram index a
    piece of three characters for private use, in the R*Tree a third dimension. There a mark is as
    thick as two of them are apart, for a tree that goes by volume needs some.

    The view is what the trigram index has to agree with: only its own checks read it. Its pages
    are small, so that leaping from one entry to a later one reads little, and it merges its parts
    as soon as there are two, so that no writer ever meets with many.
    """
    op.execute(
        f"CREATE VIEW {name}_words AS "
        f'SELECT "row", {_mark_text(owner)} AS mark, search_text AS words FROM {table}'
    )
    op.execute(
        f"CREATE VIRTUAL TABLE {name}_text USING fts5(mark, words, content='{name}_words', "
        "content_rowid='row', detail=none, tokenize='trigram case_sensitive 1')"
    )
    for option, value in (("pgsz", 500), ("automerge", 2)):
        op.execute(f"INSERT INTO {name}_text({name}_text, rank) VALUES ('{option}', {value})")
    op.execute(
        f"CREATE VIRTUAL TABLE {name}_box USING "
        'rtree("row", west, east, south, north, mark_from, mark_to)'
    )
    keep_in_step(name, table, owner, box)


def keep_in_step(name: str, table: str, owner: str, box: tuple[str, str, str, str]) -> None:
    west, south, east, north = box
    enter_text = (
        f"INSERT INTO {name}_text(rowid, mark, words) "
        f'VALUES (new."row", {_mark_text("new." + owner)}, new.search_text);'
    )
    leave_text = (
        f"INSERT INTO {name}_text({name}_text, rowid, mark, words) "
        f"VALUES ('delete', old.\"row\", {_mark_text('old.' + owner)}, old.search_text);"
    )
    mark = _mark_number("new." + owner)
    enter_box = (
        f'INSERT INTO {name}_box SELECT new."row", new.{west}, new.{east}, new.{south}, '
        f"new.{north}, {mark}, {mark} + 1 WHERE new.{west} IS NOT NULL;"
    )
    leave_box = f'DELETE FROM {name}_box WHERE "row" = old."row";'
    sides = sorted(set(box))
    changed = " OR ".join(f"old.{side} IS NOT new.{side}" for side in sides)
    for trigger, event, work in (
        ("enter", f"INSERT ON {table}", enter_text + enter_box),
        ("leave", f"DELETE ON {table}", leave_text + leave_box),
        (
            "retext",
            f"UPDATE OF search_text ON {table} WHEN old.search_text IS NOT new.search_text",
            leave_text + enter_text,
        ),
        ("rebox", f"UPDATE OF {', '.join(sides)} ON {table} WHEN {changed}", leave_box + enter_box),
    ):
        op.execute(f"CREATE TRIGGER {name}_{trigger} AFTER {event} BEGIN {work} END")


def _mark_text(owner: str) -> str:
    """Of the last three characters of an id, which change most from one to the next."""
    codes = (f"57344 + unicode(substr({owner}, -{place}, 1))" for place in (3, 2, 1))
    return f"char({', '.join(codes)})"


def _mark_number(owner: str) -> str:
    first, second, third = (f"unicode(substr({owner}, -{place}, 1))" for place in (3, 2, 1))
    return f"({first} * 128 + {second}) * 128 + {third}"


# The trigrams of a text, each as a number: half of it is of the owner's hash, half of that of the
# trigram. So one GIN index answers "this owner's rows that contain this", and what belongs to an
# owner lies together in it. hashtextextended() is what hash partitions are made with: it gives the
# same numbers in every version of PostgreSQL. Cutting by a regular expression takes time in
# proportion to the length; substr() would count from the beginning for every piece. No parallel
# workers: to start them takes longer than to find the rows of most words.
GRAMS = """
CREATE FUNCTION canopy_grams(owner text, content text) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL RESTRICTED COST 1000 AS $$
    SELECT array_agg(half | (hashtextextended(gram[1], 0) & 4294967295))
    FROM (VALUES (hashtextextended(owner, 0) & -4294967296)) AS own(half),
        (VALUES (content), (substr(content, 2)), (substr(content, 3))) AS shifted(rest),
        regexp_matches(rest, '...', 'g') AS gram
$$
"""
# A box, moved east by as many degrees as the hash of its owner says, out of the way of all others.
# The sides are moved by the same number, so that rounding cannot part two boxes that touch.
BOX = """
CREATE FUNCTION canopy_box(
    owner text, west double precision, south double precision,
    east double precision, north double precision
) RETURNS box
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT box(
        point(west + (hashtextextended(owner, 0) & 1048575)::double precision * 4096, south),
        point(east + (hashtextextended(owner, 0) & 1048575)::double precision * 4096, north)
    )
$$
"""


def index_on_postgresql(name: str, table: str, owner: str, box: tuple[str, str, str, str]) -> None:
    """GIN over the trigrams of the text, GiST over the boxes; both need no extension.

    Without ``fastupdate``, which would let one writer in hundreds wait for the work of all. And
    without statistics: they would cost ANALYZE seconds, and no statement's plan depends on them.
    """
    op.execute(
        f"CREATE INDEX {name}_text ON {table} "
        f"USING gin (canopy_grams({owner}, search_text)) WITH (fastupdate = off)"
    )
    op.execute(
        f"CREATE INDEX {name}_box ON {table} USING gist (canopy_box({owner}, {', '.join(box)}))"
    )
    for index in ("text", "box"):
        op.execute(f"ALTER INDEX {name}_{index} ALTER COLUMN 1 SET STATISTICS 0")
