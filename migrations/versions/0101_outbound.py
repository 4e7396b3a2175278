"""Whether this instance sends anything out

Revision: 0101
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0101"
down_revision = "0100"
branch_labels = None
depends_on = None

# Earlier code does not know the switch: upgrade all hosts before it is used.
runs_earlier_code = True

TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.add_column("instance_state", sa.Column("outbound_off_at", TIME))
