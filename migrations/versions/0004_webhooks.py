"""Webhooks: where events are sent to, what is to be sent, and each attempt

Revision: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.create_index(
        "ix_events_account_id_type_created_at_id",
        "events",
        ["account_id", "type", "created_at", "id"],
    )
    create_webhooks()
    create_deliveries()
    create_delivery_logs()
    create_replays()


def create_webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("disabled_reason", sa.String(length=20), nullable=True),
        sa.Column("sealed_secret", sa.Text(), nullable=False),
        sa.Column("sealed_former_secret", sa.Text(), nullable=True),
        sa.Column("former_secret_until", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("last_success_at", TIME, nullable=True),
        sa.Column("consecutive_failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", TIME, nullable=True),
        sa.Column("warned_at", TIME, nullable=True),
        sa.Column("canceled_at", TIME, nullable=True),
        sa.Column("deleted_at", TIME, nullable=True),
        sa.CheckConstraint(
            "disabled_reason IN ('manual', 'failing', 'gone')",
            name="ck_webhooks_disabled_reason",
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


def create_deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("webhook_id", KEY, nullable=False),
        sa.Column("event_id", KEY, nullable=False),
        sa.Column("cause", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", TIME, nullable=True),
        sa.Column("claim", KEY, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.CheckConstraint(
            "cause IN ('event', 'test', 'replay', 'redelivery')", name="ck_deliveries_cause"
        ),
        sa.CheckConstraint(
            "state IN ('pending', 'succeeded', 'failed', 'canceled')",
            name="ck_deliveries_state",
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name="fk_deliveries_webhook_id_webhooks",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["event_id"], ["events.id"], name="fk_deliveries_event_id_events", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    op.create_index(
        "ix_deliveries_due",
        "deliveries",
        ["webhook_id", "due_at"],
        postgresql_where=sa.text("due_at IS NOT NULL"),
        sqlite_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index("ix_deliveries_event_id_webhook_id", "deliveries", ["event_id", "webhook_id"])


def create_delivery_logs() -> None:
    op.create_table(
        "delivery_logs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("webhook_id", KEY, nullable=False),
        sa.Column("delivery_id", KEY, nullable=False),
        sa.Column("event_id", KEY, nullable=False),
        sa.Column("event_type", sa.String(length=40), nullable=False),
        sa.Column("cause", sa.String(length=10), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("response_code", sa.Integer(), nullable=True),
        sa.Column("response_time_ms", sa.Integer(), nullable=False),
        sa.Column("error", sa.String(length=100), nullable=True),
        sa.Column("sent_at", TIME, nullable=False),
        sa.Column("delivered_at", TIME, nullable=False),
        sa.Column("next_retry_at", TIME, nullable=True),
        sa.Column("resolve_ms", sa.Integer(), nullable=True),
        sa.Column("connect_ms", sa.Integer(), nullable=True),
        sa.Column("tls_ms", sa.Integer(), nullable=True),
        sa.Column("wait_ms", sa.Integer(), nullable=True),
        sa.CheckConstraint("status IN ('success', 'failed')", name="ck_delivery_logs_status"),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name="fk_delivery_logs_webhook_id_webhooks",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_delivery_logs"),
    )
    op.create_index(
        "ix_delivery_logs_webhook_id_id_status_event_type",
        "delivery_logs",
        ["webhook_id", "id", "status", "event_type"],
    )


def create_replays() -> None:
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
