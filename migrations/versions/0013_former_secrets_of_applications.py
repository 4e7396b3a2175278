"""Former secrets of OAuth applications, which work for a while

Revision: 0013
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

runs_earlier_code = True

TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")
HASH = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("oauth_applications", sa.Column("former_secret_hash", HASH, nullable=True))
    op.add_column("oauth_applications", sa.Column("former_secret_until", TIME, nullable=True))
