"""The features of imports that people leave out, their overlaps, and the keys of metadata that
others change

Revision: 0034
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

# Earlier code writes features without overlaps, and writes those too that were left out.
runs_earlier_code = True


def upgrade() -> None:
    no_list = {"nullable": False, "server_default": "[]"}
    op.add_column("imports", sa.Column("left_out", sa.JSON(), **no_list))
    for column in (
        sa.Column("left_out", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("metadata_changes", sa.JSON(), **no_list),
        sa.Column("overlaps", sa.JSON(), nullable=True),
        sa.Column("overlap_m2", sa.BigInteger(), nullable=True),
    ):
        op.add_column("import_features", column)
    if op.get_bind().dialect.name == "sqlite":
        move_geometry_to_the_end()


def move_geometry_to_the_end() -> None:
    """SQLite reads a row from its start: what comes after a large geometry costs as much as it."""
    op.execute("ALTER TABLE import_features ADD COLUMN moved_geometry TEXT")
    op.execute("UPDATE import_features SET moved_geometry = geometry")
    op.execute("ALTER TABLE import_features DROP COLUMN geometry")
    op.execute("ALTER TABLE import_features RENAME COLUMN moved_geometry TO geometry")
