"""What each import has made or changed

Revision: 0102
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0102"
down_revision = "0101"
branch_labels = None
depends_on = None

# What earlier code imports meanwhile is not found by its import.
runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "imported_records",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("import_id", KEY, nullable=False),
        sa.Column("record_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_imported_records_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "import_id", "record_id", name="pk_imported_records"),
    )
    op.execute(
        "INSERT INTO imported_records (account_id, import_id, record_id)"
        " SELECT DISTINCT account_id, import_id, target_id FROM import_features"
        " WHERE state IN ('applied', 'kept') AND target_id IS NOT NULL"
    )
