"""Limits and billing: counts of requests without batches

Revision: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
EXTERNAL_ID = sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    # Which batches of counts were added: counters are copied now, which may be done twice.
    op.drop_table("request_count_batches")
    # How far an account has come towards its limits, and been told so.
    for name in ("hectares_level", "members_level", "requests_level"):
        level = sa.Column(name, sa.SmallInteger(), nullable=False, server_default="0")
        op.add_column("account_usage", level)
    period = sa.Column("requests_period", sa.String(length=7), nullable=False, server_default="")
    op.add_column("account_usage", period)
    # Where the last event of a row is found, when a change of the row is told.
    op.create_index("ix_events_subject_id_id", "events", ["subject_id", "id"])
    create_billing_tables()


def create_billing_tables() -> None:
    op.create_table(
        "billing_events",
        sa.Column("source", sa.String(length=20), nullable=False),
        sa.Column("id", EXTERNAL_ID, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("received_at", TIME, nullable=False),
        sa.CheckConstraint(
            "source IN ('billing', 'payment_provider')", name="ck_billing_events_source"
        ),
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
