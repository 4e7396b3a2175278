"""Projects that are being deleted, whose rows go in batches

Revision: 0025
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

# Earlier code shows a project that is being deleted, archived, until its last rows are gone.
runs_earlier_code = True

TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")
_IS_DELETED = sa.text("deleted_at IS NOT NULL")


def upgrade() -> None:
    op.add_column("projects", sa.Column("deleted_at", TIME, nullable=True))
    op.create_index(
        "ix_projects_deleted",
        "projects",
        ["account_id", "id"],
        postgresql_where=_IS_DELETED,
        sqlite_where=_IS_DELETED,
    )
