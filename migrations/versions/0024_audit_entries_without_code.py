"""Audit entries without the code that authenticated them until they were sealed

Revision: 0024
"""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

# Earlier code writes the code.
runs_earlier_code = False


def upgrade() -> None:
    op.drop_column("audit_entries", "mac")
