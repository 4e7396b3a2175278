"""The overlaps of the features of imports

Revision: 0034
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

# Earlier code writes features without them.
runs_earlier_code = True


def upgrade() -> None:
    op.add_column("import_features", sa.Column("overlaps", sa.JSON(), nullable=True))
    op.add_column("import_features", sa.Column("overlap_m2", sa.BigInteger(), nullable=True))
