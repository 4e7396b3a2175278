"""The open database connections of this process."""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from app.db import queries, replica
from app.db.extensions import db
from app.values import clock


def close_all() -> None:
    """Close all, in a process that only waits from now on. Needs an app context."""
    _dispose(close=True)


def forget_all() -> None:
    """Drop the connections that a forked process inherited without closing them: they belong to the
    parent, and two processes cannot share one. Needs an app context."""
    _dispose(close=False)


def read_clock() -> None:
    """Read the database's clock, which a forked process knows from its parent's start only. Needs
    an app context."""
    clock.forget_reading()
    with suppress(SQLAlchemyError), queries.connect():
        pass


def _dispose(*, close: bool) -> None:
    for engine in (*db.engines.values(), queries.engine(), *replica.engines()):
        engine.dispose(close=close)
