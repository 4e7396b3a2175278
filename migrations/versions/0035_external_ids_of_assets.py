"""External ids of assets

Revision: 0035
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

# Earlier code keeps external ids as they are. Where it renames an asset that has one, the id is no
# longer found by a search, which bin/canopy doctor --repair mends.
runs_earlier_code = True

_HAS_ONE = sa.text("external_id IS NOT NULL")


def upgrade() -> None:
    """Add the column and its index, in which there is no row yet: no table is written anew."""
    op.add_column("assets", sa.Column("external_id", sa.String(length=200)))
    op.create_index(
        "ix_assets_account_id_external_id_project_id",
        "assets",
        ["account_id", "external_id", "project_id"],
        unique=True,
        postgresql_where=_HAS_ONE,
        sqlite_where=_HAS_ONE,
    )
