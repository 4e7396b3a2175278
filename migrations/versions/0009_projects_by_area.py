"""The boxes of projects in the index of their areas, for maps

Revision: 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

runs_earlier_code = True


def upgrade() -> None:
    name, sides = "ix_projects_account_id_area_m2_id", ["west", "south", "east", "north"]
    op.drop_index(name, "projects")
    # Where nulls are the smallest, as in SQLite; PostgreSQL has to be told.
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    area = "area_m2" if is_sqlite else sa.text("area_m2 NULLS FIRST")
    op.create_index(name, "projects", ["account_id", area, "id", "status", *sides])
