"""External ids, metadata and stored bytes of projects; assets in lists of their account

Revision: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    op.add_column("projects", sa.Column("external_id", sa.String(length=200)))
    op.add_column("projects", sa.Column("metadata", sa.Text()))
    for table in ("projects", "account_usage"):
        zero = sa.Column("stored_bytes", sa.BigInteger(), nullable=False, server_default="0")
        op.add_column(table, zero)
    count_bytes("length(CAST({} AS BLOB))" if is_sqlite else "octet_length({})")
    if is_sqlite:
        move_geometry_to_the_end()
        index_by_account_on_sqlite()
    else:
        index_by_account_on_postgresql()
    index_columns()


def count_bytes(length: str) -> None:
    size, metadata = length.format("geometry"), length.format("metadata")
    op.execute(f"UPDATE projects SET stored_bytes = {size} WHERE geometry IS NOT NULL")
    op.execute(
        "UPDATE account_usage SET stored_bytes ="
        " coalesce((SELECT sum(stored_bytes) FROM projects"
        "  WHERE projects.account_id = account_usage.account_id), 0)"
        f" + coalesce((SELECT sum({metadata}) FROM assets"
        "  WHERE assets.account_id = account_usage.account_id AND metadata IS NOT NULL), 0)"
    )


def index_columns() -> None:
    op.create_index(
        "ix_projects_account_id_external_id",
        "projects",
        ["account_id", "external_id"],
        unique=True,
    )
    op.drop_index("ix_assets_account_id", "assets")
    for table, *columns in (
        ("projects", "account_id", "updated_at", "id"),
        ("projects", "account_id", "status", "updated_at", "id"),
        ("assets", "project_id", "account_id", "updated_at", "id"),
        ("assets", "account_id", "created_at", "id"),
        ("assets", "account_id", "updated_at", "id"),
        ("assets", "account_id", "status", "created_at", "id"),
        ("assets", "account_id", "type", "created_at", "id", "status"),
    ):
        op.create_index(f"ix_{table}_{'_'.join(columns)}", table, columns)


def move_geometry_to_the_end() -> None:
    """SQLite reads a row from its start: what comes after a large boundary costs as much as it."""
    op.execute("ALTER TABLE projects ADD COLUMN moved_geometry TEXT")
    op.execute("UPDATE projects SET moved_geometry = geometry")
    op.execute("ALTER TABLE projects DROP COLUMN geometry")
    op.execute("ALTER TABLE projects RENAME COLUMN moved_geometry TO geometry")


def index_by_account_on_sqlite() -> None:
    """A second trigram index and a second R*Tree of assets: by their account, as the first ones are
    by their project. How they work is written in the first revision."""
    op.execute(
        "CREATE VIEW account_assets_words AS "
        f'SELECT "row", {_mark_text("account_id")} AS mark, search_text AS words FROM assets'
    )
    op.execute(
        "CREATE VIRTUAL TABLE account_assets_text USING fts5("
        "mark, words, content='account_assets_words', content_rowid='row', detail=none, "
        "tokenize='trigram case_sensitive 1')"
    )
    for option, value in (("pgsz", 500), ("automerge", 2)):
        op.execute(
            "INSERT INTO account_assets_text(account_assets_text, rank) "
            f"VALUES ('{option}', {value})"
        )
    op.execute(
        "CREATE VIRTUAL TABLE account_assets_box USING "
        'rtree("row", west, east, south, north, mark_from, mark_to)'
    )
    op.execute("INSERT INTO account_assets_text(account_assets_text) VALUES ('rebuild')")
    mark = _mark_number("account_id")
    op.execute(
        'INSERT INTO account_assets_box SELECT "row", longitude, longitude, latitude, latitude, '
        f"{mark}, {mark} + 1 FROM assets WHERE longitude IS NOT NULL"
    )
    keep_in_step()


def keep_in_step() -> None:
    enter_text = (
        "INSERT INTO account_assets_text(rowid, mark, words) "
        f'VALUES (new."row", {_mark_text("new.account_id")}, new.search_text);'
    )
    leave_text = (
        "INSERT INTO account_assets_text(account_assets_text, rowid, mark, words) "
        f"VALUES ('delete', old.\"row\", {_mark_text('old.account_id')}, old.search_text);"
    )
    mark = _mark_number("new.account_id")
    enter_box = (
        'INSERT INTO account_assets_box SELECT new."row", new.longitude, new.longitude, '
        f"new.latitude, new.latitude, {mark}, {mark} + 1 WHERE new.longitude IS NOT NULL;"
    )
    leave_box = 'DELETE FROM account_assets_box WHERE "row" = old."row";'
    moved = "old.longitude IS NOT new.longitude OR old.latitude IS NOT new.latitude"
    for name, event, work in (
        ("enter", "INSERT ON assets", enter_text + enter_box),
        ("leave", "DELETE ON assets", leave_text + leave_box),
        (
            "retext",
            "UPDATE OF search_text ON assets WHEN old.search_text IS NOT new.search_text",
            leave_text + enter_text,
        ),
        (
            "rebox",
            f"UPDATE OF longitude, latitude ON assets WHEN {moved}",
            leave_box + enter_box,
        ),
    ):
        op.execute(f"CREATE TRIGGER account_assets_{name} AFTER {event} BEGIN {work} END")


def _mark_text(owner: str) -> str:
    codes = (f"57344 + unicode(substr({owner}, -{place}, 1))" for place in (3, 2, 1))
    return f"char({', '.join(codes)})"


def _mark_number(owner: str) -> str:
    first, second, third = (f"unicode(substr({owner}, -{place}, 1))" for place in (3, 2, 1))
    return f"({first} * 128 + {second}) * 128 + {third}"


def index_by_account_on_postgresql() -> None:
    """Likewise; what the planner goes by is written in the first revision."""
    op.execute(
        "CREATE INDEX account_assets_text ON assets "
        "USING gin (canopy_grams(account_id, search_text)) WITH (fastupdate = off)"
    )
    op.execute(
        "CREATE INDEX account_assets_box ON assets "
        "USING gist (canopy_box(account_id, longitude, latitude, longitude, latitude))"
    )
    for index in ("text", "box"):
        op.execute(f"ALTER INDEX account_assets_{index} ALTER COLUMN 1 SET STATISTICS 0")
