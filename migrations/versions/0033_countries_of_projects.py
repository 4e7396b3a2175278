"""The countries of projects

Revision: 0033
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

# The countries of the boundaries that earlier code writes are derived by the job that derives those
# of all boundaries there are. Where it replaces a boundary, that of the former one stays, which
# bin/canopy doctor finds.
runs_earlier_code = True

_IS_WAITING = sa.text("country_version IS NULL AND area_m2 IS NOT NULL")


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    op.add_column("projects", sa.Column("country", sa.String(2), nullable=True))
    op.add_column("projects", sa.Column("country_version", sa.SmallInteger(), nullable=True))
    if is_sqlite:
        move_geometry_to_the_end()
    op.create_index(
        "ix_projects_without_country",
        "projects",
        ["id"],
        postgresql_where=_IS_WAITING,
        sqlite_where=_IS_WAITING,
    )


def move_geometry_to_the_end() -> None:
    """SQLite reads a row from its start: what comes after a large boundary costs as much as it."""
    op.execute("ALTER TABLE projects ADD COLUMN moved_geometry TEXT")
    op.execute("UPDATE projects SET moved_geometry = geometry")
    op.execute("ALTER TABLE projects DROP COLUMN geometry")
    op.execute("ALTER TABLE projects RENAME COLUMN moved_geometry TO geometry")
