"""The open database connections of this process."""

from __future__ import annotations

from contextlib import suppress

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.db import queries, snapshots
from app.db.extensions import db
from app.values import clock


def close_all() -> None:
    """Close all connections, in a process that only waits from now on. Needs an app context."""
    _dispose_engines(close=True)


def close_at_end(app: Flask) -> None:
    """Close all connections, at the end of a process that ends last. The last to close a SQLite
    file writes its log back and removes it, so that the file alone is the database."""
    with app.app_context(), suppress(SQLAlchemyError):
        if db.engine.dialect.name == "sqlite" and snapshots.may_exist(db.engine.url):
            with queries.reading_connection():  # killed and forked processes have closed nothing
                pass
    with app.app_context():  # a new one, as the first returns its connections when it ends
        close_all()


def forget_all() -> None:
    """Drop the connections that a forked process inherited without closing them: they belong to the
    parent, and two processes cannot share one. Needs an app context."""
    _dispose_engines(close=False)


def read_clock() -> None:
    """Read the database's clock in a forked process, whose reading is from its parent's start.
    Needs an app context."""
    clock.forget_reading()
    with suppress(SQLAlchemyError), queries.reading_connection():
        pass


def _dispose_engines(*, close: bool) -> None:
    for engine in (*db.engines.values(), queries.reading_engine()):
        engine.dispose(close=close)
