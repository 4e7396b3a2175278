"""The boundaries that projects have had, and shapes for maps

Revision: 0007
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

runs_earlier_code = True

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
ROW = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    """What takes long comes first. What locks tables that are in use comes last."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    create_boundaries(with_key=is_sqlite)
    enter_present_boundaries()
    index_boundaries()
    if not is_sqlite:
        refer_to_projects()
    create_shapes()
    zero = sa.Column("map_version", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("account_usage", zero)


def create_boundaries(*, with_key: bool) -> None:
    """On PostgreSQL the foreign key comes later, as it keeps all others from changing projects."""
    keys = [
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_boundaries_project_id_projects",
            ondelete="CASCADE",
        )
    ]
    op.create_table(
        "boundaries",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("replaced_at", TIME, nullable=True),
        sa.Column("simplified_at", TIME, nullable=True),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_by_email", sa.String(length=254), nullable=True),
        sa.Column("source", sa.String(length=10), nullable=True),
        sa.Column("area_m2", sa.BigInteger(), nullable=False),
        sa.Column("added_m2", sa.BigInteger(), nullable=True),
        sa.Column("removed_m2", sa.BigInteger(), nullable=True),
        sa.Column("checksum", sa.BigInteger(), nullable=True),
        sa.Column("stored_bytes", sa.BigInteger(), nullable=False),
        sa.Column("geometry", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "source IN ('api', 'import', 'dashboard', 'cli', 'database', 'ogc')",
            name="ck_boundaries_source",
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name="pk_boundaries"),
        *(keys if with_key else []),
    )


def enter_present_boundaries() -> None:
    """An entry for each project with a boundary. It has the number of the project's id, and so
    sorts by the same time."""
    op.execute(
        "INSERT INTO boundaries (project_id, id, account_id, created_at, area_m2, added_m2,"
        "  removed_m2, stored_bytes)"
        " SELECT id, 'bnd_' || substr(id, 6), account_id, created_at, area_m2, area_m2, 0, 0"
        " FROM projects WHERE geometry IS NOT NULL AND area_m2 IS NOT NULL ORDER BY id"
    )


def index_boundaries() -> None:
    for name, columns, condition in (
        ("present", ["project_id", "account_id"], "replaced_at IS NULL"),
        ("waiting", ["project_id"], "replaced_at IS NULL AND simplified_at IS NULL"),
        ("storing", ["account_id", "stored_bytes"], "stored_bytes > 0"),
    ):
        where = {f"{dialect}_where": sa.text(condition) for dialect in ("postgresql", "sqlite")}
        is_unique = name == "present"
        op.create_index(f"ix_boundaries_{name}", "boundaries", columns, unique=is_unique, **where)


def refer_to_projects() -> None:
    """Projects may have been deleted since their entries were made."""
    op.execute("LOCK TABLE projects IN SHARE ROW EXCLUSIVE MODE")
    op.execute(
        "DELETE FROM boundaries WHERE NOT EXISTS"
        " (SELECT FROM projects WHERE projects.id = boundaries.project_id)"
    )
    op.create_foreign_key(
        "fk_boundaries_project_id_projects",
        "boundaries",
        "projects",
        ["project_id"],
        ["id"],
        ondelete="CASCADE",
    )


def create_shapes() -> None:
    op.create_table(
        "boundary_shapes",
        sa.Column("project_row", ROW, autoincrement=False, nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("area_m2", sa.BigInteger(), nullable=False),
        sa.Column("geometry", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_row"],
            ["projects.row"],
            name="fk_boundary_shapes_project_row_projects",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_row", "level", name="pk_boundary_shapes"),
    )
