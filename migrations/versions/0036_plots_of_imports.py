"""Imports whose points become plots, and the project that such an import makes for them

Revision: 0036
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

# Earlier code rejects the points of a file of areas. An import that reads them as plots should be
# applied and undone by later code: earlier code makes each a project without a boundary.
runs_earlier_code = True

TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    op.add_column("imports", sa.Column("points_as_plots", sa.Boolean(), nullable=True))
    op.add_column("imports", sa.Column("project_made_at", TIME, nullable=True))
    plot = sa.Column("is_plot", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("import_features", plot)
    if op.get_bind().dialect.name == "sqlite":
        move_geometry_to_the_end()


def move_geometry_to_the_end() -> None:
    """SQLite reads a row from its start: what comes after a large geometry costs as much as it."""
    op.execute("ALTER TABLE import_features ADD COLUMN moved_geometry TEXT")
    op.execute("UPDATE import_features SET moved_geometry = geometry")
    op.execute("ALTER TABLE import_features DROP COLUMN geometry")
    op.execute("ALTER TABLE import_features RENAME COLUMN moved_geometry TO geometry")
