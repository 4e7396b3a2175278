"""Since when a webhook has given up deliveries

Revision: 0024
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

# Earlier code shows such a webhook as failing.
runs_earlier_code = True

TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.add_column("webhooks", sa.Column("given_up_at", TIME, nullable=True))
