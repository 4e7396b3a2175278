"""Keys that expire, credentials for some projects only, and where each was last used

Revision: 0011
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

# Earlier code would accept a key after its end, and everywhere.
runs_earlier_code = False

TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    for column in (
        sa.Column("project_ids", sa.JSON(), nullable=True),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("expiry_mailed_at", TIME, nullable=True),
        sa.Column("last_used_address", sa.String(length=45), nullable=True),
    ):
        op.add_column("credentials", column)
