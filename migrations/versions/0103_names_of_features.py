"""Names that people give to the features of an import

Revision: 0103
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0103"
down_revision = "0102"
branch_labels = None
depends_on = None

# Earlier code reads files with the names that they have.
runs_earlier_code = True


def upgrade() -> None:
    op.add_column("imports", sa.Column("names", sa.JSON))
