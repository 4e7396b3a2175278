"""The version of an account's lists, by which totals are kept

Revision: 0030
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

# Earlier code leaves the version as it is. Each of its changes adds to the history of the account,
# whose bytes app.lists.totals compares as well.
runs_earlier_code = True


def upgrade() -> None:
    zero = sa.Column("lists_version", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("account_usage", zero)
