"""How Alembic runs the revisions: in one transaction, on a connection without time limits.

On SQLite it checks no foreign keys meanwhile: a table that is rebuilt would take its children with
it. They are checked before the transaction ends, so nothing dangling is ever committed.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo
from sqlalchemy import Connection

from app.db.column_types import Timestamp
from app.db.extensions import db
from app.db.migrations import APPLIED, CONNECTION, keep_others_out, note_oldest_code
from app.db.revisions import revision_of
from app.db.snapshots import open_transaction

# Alembic cannot compare indexes on expressions on SQLite, which has tables in their place.
_SEARCH_INDEX = "autogenerate skipping .* index '(projects|assets|account_assets)_(text|box)'"
_TIME = 'sa.DateTime(timezone=True).with_variant(sa.String(24), "sqlite")'


def _is_compared(name: str | None, kind: str, _: Any) -> bool:
    """Whether the draft of a revision compares it with the models. The search indexes on SQLite
    are tables that no model describes; a draft would drop them."""
    return kind != "table" or name in db.metadata.tables


def _drafted(kind: str, item: Any, _: Any) -> str | Literal[False]:
    """A column type of ours in the words of SQLAlchemy: a revision does not import our code, which
    changes after it."""
    return _TIME if kind == "type" and isinstance(item, Timestamp) else False


def _note_version(*, ctx: MigrationContext, step: MigrationInfo, **_: Any) -> None:
    assert ctx.connection is not None
    note_oldest_code(ctx.connection, step)
    if (applied := context.config.attributes.get(APPLIED)) is not None:
        applied(step)


def _check_foreign_keys(connection: Connection) -> None:
    dangling = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if dangling:
        raise RuntimeError(f"The revision would leave rows without their parents: {dangling[:5]}")


def run(connection: Connection) -> None:
    """Apply what is asked for in the current transaction."""
    sqlite = connection.dialect.name == "sqlite"
    warnings.filterwarnings("ignore", _SEARCH_INDEX, UserWarning)
    context.configure(
        connection=connection,
        target_metadata=db.metadata,
        render_as_batch=sqlite,
        transaction_per_migration=False,
        transactional_ddl=True,  # SQLite's is, too, with transactions that the engine begins
        compare_type=True,
        include_name=_is_compared,
        render_item=_drafted,
        on_version_apply=_note_version,
    )
    with context.begin_transaction():
        if not sqlite:
            # Two instances that start at once migrate one after the other.
            connection.exec_driver_sql("SET LOCAL lock_timeout = '60s'")
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7310241)")
        if (found := revision_of(connection)) is not None:
            keep_others_out(connection, context.script.iterate_revisions("head", found))
        context.run_migrations()
        if sqlite:
            _check_foreign_keys(connection)


if context.is_offline_mode():
    raise SystemExit("Revisions run against a database; offline SQL is not written.")
given = context.config.attributes.get(CONNECTION)
if given is None:  # a command of Flask-Migrate
    with open_transaction(db.engine.url) as own:
        run(own)
else:
    run(given)
