"""When a redirect URI was added to an application: consents from before do not extend to it

Revision: 0023
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

# Earlier code does not note it, and goes by every consent.
runs_earlier_code = True

TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    added = sa.Column("redirect_uri_added_at", TIME, nullable=True)
    op.add_column("oauth_applications", added)
