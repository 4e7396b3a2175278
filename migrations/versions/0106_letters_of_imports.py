"""What letters with two meanings mean in the file of an import

Revision: 0106
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0106"
down_revision = "0105"
branch_labels = None
depends_on = None

# Earlier code reads the letters as it did.
runs_earlier_code = True


def upgrade() -> None:
    op.add_column("imports", sa.Column("letters", sa.JSON))
    op.add_column("imports", sa.Column("zone_letter", sa.String(10)))
