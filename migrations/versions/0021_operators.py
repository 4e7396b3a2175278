"""Operators, and what they set for the whole instance

Revision: 0021
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

runs_earlier_code = True

TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.add_column("users", sa.Column("operator_since", TIME, nullable=True))
    op.create_table(
        "instance_state",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("sign_up_closed_at", TIME, nullable=True),
        sa.Column("message", sa.String(500), nullable=True),
        sa.Column("message_kind", sa.String(20), nullable=True),
        sa.Column("message_until", TIME, nullable=True),
        sa.CheckConstraint("id = 1", name="ck_instance_state_one_row"),
        sa.CheckConstraint(
            "message_kind IN ('information', 'warning')", name="ck_instance_state_message_kind"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_instance_state"),
    )
    # The lists of accounts and of people, in their orders.
    op.create_index("ix_accounts_created_at_id", "accounts", ["created_at", "id"])
    op.create_index("ix_users_created_at_id", "users", ["created_at", "id"])
