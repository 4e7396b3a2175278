"""Points of imports of projects that become assets of any type

Revision: 0105
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0105"
down_revision = "0104"
branch_labels = None
depends_on = None

# Earlier code makes plots of them.
runs_earlier_code = True


def upgrade() -> None:
    op.add_column("imports", sa.Column("points", sa.String(10)))
