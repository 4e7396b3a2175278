"""The external ids of the features of imports

Revision: 0107
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0107"
down_revision = "0106"
branch_labels = None
depends_on = None

# Earlier code need not fill the column.
runs_earlier_code = True


def upgrade() -> None:
    op.add_column("import_features", sa.Column("external_id", sa.Text))
