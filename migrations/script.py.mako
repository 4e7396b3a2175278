"""${message}

Revision: ${up_revision}, after ${down_revision | comma,n}, made ${create_date}
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None

# Whether the version before this one still runs on the tables, as it does while several hosts are
# upgraded one after the other. True if they only gain tables, indexes, or columns that it need not
# fill; then its web servers stay ready.
runs_earlier_code = False


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
