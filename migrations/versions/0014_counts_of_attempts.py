"""Counts of attempts by hour, filters of the log by time, and how far replays are

Revision: 0014
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")
STEPS = (
    *(5, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 700),
    *(1_000, 1_500, 2_000, 3_000, 4_000, 5_000),
)


def upgrade() -> None:
    create_counts()
    count_attempts()
    op.create_index("ix_attempt_counts_hour", "attempt_counts", ["hour"])
    filtered = ["webhook_id", "id", "status", "event_type"]
    op.create_index(
        f"ix_delivery_logs_{'_'.join(filtered)}_delivered_at",
        "delivery_logs",
        [*filtered, "delivered_at"],
    )
    op.drop_index(f"ix_delivery_logs_{'_'.join(filtered)}", "delivery_logs")
    op.create_index("ix_delivery_logs_delivery_id", "delivery_logs", ["delivery_id"])
    for name in ("total", "queued"):
        op.add_column("replays", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    op.add_column("replays", sa.Column("ended_at", TIME, nullable=True))


def create_counts() -> None:
    op.create_table(
        "attempt_counts",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("webhook_id", KEY, nullable=False),
        sa.Column("hour", TIME, nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("took_ms", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "status IN ('success', 'failed')", name=op.f("ck_attempt_counts_status")
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name=op.f("fk_attempt_counts_webhook_id_webhooks"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "webhook_id", "hour", "status", "took_ms", name=op.f("pk_attempt_counts")
        ),
    )


def count_attempts() -> None:
    """Count the attempts that are in the log."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    hour = (
        "substr(delivered_at, 1, 13) || ':00:00.000Z'"
        if is_sqlite
        else "date_trunc('hour', delivered_at, 'UTC')"
    )
    steps = " ".join(f"WHEN response_time_ms <= {step} THEN {step}" for step in STEPS)
    took = f"CASE WHEN status = 'failed' THEN 0 {steps} ELSE {STEPS[-1]} END"
    op.execute(
        "INSERT INTO attempt_counts (account_id, webhook_id, hour, status, took_ms, number)"
        f" SELECT min(account_id), webhook_id, {hour}, status, {took}, count(*)"
        " FROM delivery_logs GROUP BY 2, 3, 4, 5"
    )
