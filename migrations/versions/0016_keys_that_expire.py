"""Finding keys that expire soon without reading all others

Revision: 0016
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

runs_earlier_code = True


def upgrade() -> None:
    condition = "expires_at IS NOT NULL AND expiry_mailed_at IS NULL AND revoked_at IS NULL"
    where = {f"{dialect}_where": sa.text(condition) for dialect in ("postgresql", "sqlite")}
    op.create_index("ix_credentials_expiring", "credentials", ["expires_at"], **where)
