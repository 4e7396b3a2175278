"""First tables: accounts, people, credentials, projects, assets, events

Revision: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
SORTABLE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
ROW = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")


def upgrade() -> None:
    create_tables()
    if op.get_bind().dialect.name == "sqlite":
        index = index_on_sqlite
    else:
        index = index_on_postgresql
        op.execute(GRAMS)
        op.execute(BOX)
    index("projects", "account_id", ("west", "south", "east", "north"))
    index("assets", "project_id", ("longitude", "latitude", "longitude", "latitude"))
    index_areas()


def create_tables() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("slug", sa.String(length=63), nullable=False),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("plan", sa.String(length=50), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.CheckConstraint("type IN ('individual', 'organization')", name="ck_accounts_type"),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("slug", name="uq_accounts_slug"),
    )
    op.create_table(
        "request_count_batches",
        sa.Column("id", KEY, nullable=False),
        sa.Column("written_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_request_count_batches"),
    )
    op.create_table(
        "users",
        sa.Column("id", KEY, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("email_key", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("email_verified_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("email_key", name="uq_users_email_key"),
    )
    op.create_table(
        "account_usage",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("projects_active", sa.BigInteger(), nullable=False),
        sa.Column("projects_archived", sa.BigInteger(), nullable=False),
        sa.Column("projects_draft", sa.BigInteger(), nullable=False),
        sa.Column("area_m2", sa.BigInteger(), nullable=False),
        sa.Column("members", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_account_usage_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name="pk_account_usage"),
    )
    op.create_table(
        "credentials",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("permissions", sa.JSON(), nullable=False),
        sa.Column("ip_allowlist", sa.JSON(), nullable=True),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("token_end", sa.String(length=4), nullable=False),
        sa.Column("created_by", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME, nullable=True),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.CheckConstraint("kind IN ('api_key', 'service_token')", name="ck_credentials_kind"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_credentials_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name="fk_credentials_created_by_users"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_credentials"),
        sa.UniqueConstraint("token_hash", name="uq_credentials_token_hash"),
    )
    op.create_index("ix_credentials_account_id_id", "credentials", ["account_id", "id"])

    op.create_table(
        "events",
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("subject_id", KEY, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_events_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
    )
    op.create_index(
        "ix_events_account_id_created_at_id", "events", ["account_id", "created_at", "id"]
    )
    op.create_index("ix_events_created_at", "events", ["created_at"])

    op.create_table(
        "idempotent_answers",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_idempotent_answers_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "key", name="pk_idempotent_answers"),
    )
    op.create_index("ix_idempotent_answers_created_at", "idempotent_answers", ["created_at"])

    op.create_table(
        "memberships",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("invited_at", TIME, nullable=True),
        sa.Column("joined_at", TIME, nullable=True),
        sa.Column("last_active_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.CheckConstraint(
            "role IN ('viewer', 'editor', 'admin', 'owner')", name="ck_memberships_role"
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_memberships_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_memberships_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "user_id", name="pk_memberships"),
    )
    op.create_index("ix_memberships_user_id", "memberships", ["user_id"])

    op.create_table(
        "projects",
        sa.Column("row", ROW, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("area_m2", sa.BigInteger(), nullable=True),
        sa.Column("west", sa.Double(), nullable=True),
        sa.Column("south", sa.Double(), nullable=True),
        sa.Column("east", sa.Double(), nullable=True),
        sa.Column("north", sa.Double(), nullable=True),
        sa.Column("slug", sa.String(length=63), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("name_key", SORTABLE, nullable=False),
        sa.Column("search_text", SORTABLE, nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("geometry", sa.Text(), nullable=True),
        sa.CheckConstraint("status IN ('active', 'archived', 'draft')", name="ck_projects_status"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_projects_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("row", name="pk_projects"),
        sa.UniqueConstraint("account_id", "slug", name="uq_projects_account_id_slug"),
        sa.UniqueConstraint("id", name="uq_projects_id"),
    )
    op.create_index(
        "ix_projects_account_id_created_at_id", "projects", ["account_id", "created_at", "id"]
    )
    op.create_index(
        "ix_projects_account_id_name_key_id", "projects", ["account_id", "name_key", "id"]
    )
    op.create_index(
        "ix_projects_account_id_status_created_at_id",
        "projects",
        ["account_id", "status", "created_at", "id"],
    )
    op.create_index(
        "ix_projects_account_id_status_name_key_id",
        "projects",
        ["account_id", "status", "name_key", "id"],
    )

    op.create_table(
        "request_counts",
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("requests", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_request_counts_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "day", name="pk_request_counts"),
    )
    op.create_table(
        "assets",
        sa.Column("row", ROW, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("account_id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("type", sa.String(length=50), nullable=False),
        sa.Column("status", sa.String(length=50), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("longitude", sa.Double(), nullable=True),
        sa.Column("latitude", sa.Double(), nullable=True),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("search_text", SORTABLE, nullable=False),
        sa.Column("location", sa.Text(), nullable=True),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name="fk_assets_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_assets_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("row", name="pk_assets"),
        sa.UniqueConstraint("id", name="uq_assets_id"),
    )
    op.create_index("ix_assets_account_id", "assets", ["account_id"])
    op.create_index(
        "ix_assets_project_id_account_id_created_at_id",
        "assets",
        ["project_id", "account_id", "created_at", "id"],
    )
    op.create_index(
        "ix_assets_project_id_account_id_status_created_at_id",
        "assets",
        ["project_id", "account_id", "status", "created_at", "id"],
    )
    op.create_index(
        "ix_assets_project_id_account_id_type_created_at_id_status",
        "assets",
        ["project_id", "account_id", "type", "created_at", "id", "status"],
    )


def index_areas() -> None:
    """A project without an area counts as the smallest on both databases."""
    nulls_first = "" if op.get_bind().dialect.name == "sqlite" else " NULLS FIRST"
    area = sa.text(f"area_m2{nulls_first}")
    op.create_index("ix_projects_account_id_area_m2_id", "projects", ["account_id", area, "id"])
    op.create_index(
        "ix_projects_account_id_status_area_m2_id",
        "projects",
        ["account_id", "status", area, "id"],
    )


def index_on_sqlite(table: str, owner: str, box: tuple[str, str, str, str]) -> None:
    """A trigram index and an R*Tree beside the table, kept in step by triggers.

    Triggers, so that they are in step whatever wrote the row. Each entry has a mark made of the
    end of its owner's id, so that a search stays among the owner's own: in the trigram index a
    piece of three characters for private use, in the R*Tree a third dimension. There a mark is as
    thick as two of them are apart, for a tree that goes by volume needs some.

    The view is what the trigram index has to agree with: only its own checks read it. Its pages
    are small, so that leaping from one entry to a later one reads little, and it merges its parts
    as soon as there are two, so that no writer ever meets with many.
    """
    op.execute(
        f"CREATE VIEW {table}_words AS "
        f'SELECT "row", {_mark_text(owner)} AS mark, search_text AS words FROM {table}'
    )
    op.execute(
        f"CREATE VIRTUAL TABLE {table}_text USING fts5(mark, words, content='{table}_words', "
        "content_rowid='row', detail=none, tokenize='trigram case_sensitive 1')"
    )
    for option, value in (("pgsz", 500), ("automerge", 2)):
        op.execute(f"INSERT INTO {table}_text({table}_text, rank) VALUES ('{option}', {value})")
    op.execute(
        f"CREATE VIRTUAL TABLE {table}_box USING "
        'rtree("row", west, east, south, north, mark_from, mark_to)'
    )
    keep_in_step(table, owner, box)


def keep_in_step(table: str, owner: str, box: tuple[str, str, str, str]) -> None:
    west, south, east, north = box
    enter_text = (
        f"INSERT INTO {table}_text(rowid, mark, words) "
        f'VALUES (new."row", {_mark_text("new." + owner)}, new.search_text);'
    )
    leave_text = (
        f"INSERT INTO {table}_text({table}_text, rowid, mark, words) "
        f"VALUES ('delete', old.\"row\", {_mark_text('old.' + owner)}, old.search_text);"
    )
    mark = _mark_number("new." + owner)
    enter_box = (
        f'INSERT INTO {table}_box SELECT new."row", new.{west}, new.{east}, new.{south}, '
        f"new.{north}, {mark}, {mark} + 1 WHERE new.{west} IS NOT NULL;"
    )
    leave_box = f'DELETE FROM {table}_box WHERE "row" = old."row";'
    sides = sorted(set(box))
    changed = " OR ".join(f"old.{side} IS NOT new.{side}" for side in sides)
    for name, event, work in (
        ("enter", f"INSERT ON {table}", enter_text + enter_box),
        ("leave", f"DELETE ON {table}", leave_text + leave_box),
        (
            "retext",
            f"UPDATE OF search_text ON {table} WHEN old.search_text IS NOT new.search_text",
            leave_text + enter_text,
        ),
        ("rebox", f"UPDATE OF {', '.join(sides)} ON {table} WHEN {changed}", leave_box + enter_box),
    ):
        op.execute(f"CREATE TRIGGER {table}_{name} AFTER {event} BEGIN {work} END")


def _mark_text(owner: str) -> str:
    """Of the last three characters of an id, which change most from one to the next."""
    codes = (f"57344 + unicode(substr({owner}, -{place}, 1))" for place in (3, 2, 1))
    return f"char({', '.join(codes)})"


def _mark_number(owner: str) -> str:
    first, second, third = (f"unicode(substr({owner}, -{place}, 1))" for place in (3, 2, 1))
    return f"({first} * 128 + {second}) * 128 + {third}"


# The trigrams of a text, each as a number: half of it is of the owner's hash, half of that of the
# trigram. So one GIN index answers "this owner's rows that contain this", and what belongs to an
# owner lies together in it. hashtextextended() is what hash partitions are made with: it gives the
# same numbers in every version of PostgreSQL. Cutting by a regular expression takes time in
# proportion to the length; substr() would count from the beginning for every piece. No parallel
# workers: to start them takes longer than to find the rows of most words.
GRAMS = """
CREATE FUNCTION canopy_grams(owner text, content text) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL RESTRICTED COST 1000 AS $$
    SELECT array_agg(half | (hashtextextended(gram[1], 0) & 4294967295))
    FROM (VALUES (hashtextextended(owner, 0) & -4294967296)) AS own(half),
        (VALUES (content), (substr(content, 2)), (substr(content, 3))) AS shifted(rest),
        regexp_matches(rest, '...', 'g') AS gram
$$
"""
# A box, moved east by as many degrees as the hash of its owner says, out of the way of all others.
# The sides are moved by the same number, so that rounding cannot part two boxes that touch.
BOX = """
CREATE FUNCTION canopy_box(
    owner text, west double precision, south double precision,
    east double precision, north double precision
) RETURNS box
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT box(
        point(west + (hashtextextended(owner, 0) & 1048575)::double precision * 4096, south),
        point(east + (hashtextextended(owner, 0) & 1048575)::double precision * 4096, north)
    )
$$
"""


def index_on_postgresql(table: str, owner: str, box: tuple[str, str, str, str]) -> None:
    """GIN over the trigrams of the text, GiST over the boxes; both need no extension.

    Without ``fastupdate``, which would let one writer in hundreds wait for the work of all. And
    without statistics: they would cost ANALYZE seconds, and no statement's plan depends on them.
    """
    op.execute(
        f"CREATE INDEX {table}_text ON {table} "
        f"USING gin (canopy_grams({owner}, search_text)) WITH (fastupdate = off)"
    )
    op.execute(
        f"CREATE INDEX {table}_box ON {table} USING gist (canopy_box({owner}, {', '.join(box)}))"
    )
    for index in ("text", "box"):
        op.execute(f"ALTER INDEX {table}_{index} ALTER COLUMN 1 SET STATISTICS 0")
