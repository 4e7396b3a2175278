"""What imports ask about their files, with the answers, and assets outside of their projects

Revision: 0031
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

# Earlier code asks nothing, and reads files without these answers.
runs_earlier_code = True


def upgrade() -> None:
    for column in (
        sa.Column("questions", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("swap", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("corners_by", sa.Text(), nullable=True),
        sa.Column("without_boundaries", sa.Boolean(), nullable=False, server_default=sa.false()),
    ):
        op.add_column("imports", column)
    op.add_column("import_features", sa.Column("outside", sa.Boolean(), nullable=True))
