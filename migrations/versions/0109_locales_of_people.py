"""The locales of people instead of formats of dates, and their unit of areas

Revision: 0109
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0109"
down_revision = "0108"
branch_labels = None
depends_on = None

# Earlier code reads a locale as its default format.
runs_earlier_code = True

# Locales that write dates and times in the same way.
_LOCALES = {
    "iso": "en-SE",
    "dots": "de-DE",
    "slashes": "en-GB",
    "slashes_12": "en-AU",
    "us": "en-US",
    "us_24": "en-BI",
}


def upgrade() -> None:
    op.add_column("users", sa.Column("area_unit", sa.String(10)))
    users = sa.table("users", sa.column("date_format", sa.String(20)))
    for former, locale in _LOCALES.items():
        op.execute(users.update().where(users.c.date_format == former).values(date_format=locale))
