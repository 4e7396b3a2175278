"""What each consent extends to, and an index of the audit batches that have entries

A consent extends to the redirect URIs for which the person was asked. Those from before extend to
all that their application has.

Revision: 0023
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

# Earlier code notes no redirect URI with a consent: the person is asked once more.
runs_earlier_code = True

_HAS_ENTRIES = sa.text("entry_hashes IS NOT NULL")


def upgrade() -> None:
    op.add_column("oauth_consents", sa.Column("redirect_uris", sa.JSON(), nullable=True))
    op.execute(
        "UPDATE oauth_consents SET redirect_uris = (SELECT oauth_applications.redirect_uris FROM"
        " oauth_applications WHERE oauth_applications.id = oauth_consents.application_id)"
    )
    op.create_index(
        "ix_audit_checkpoints_with_entries",
        "audit_checkpoints",
        ["account_id", "number"],
        postgresql_where=_HAS_ENTRIES,
        sqlite_where=_HAS_ENTRIES,
    )
