"""The open database connections of this process."""

from __future__ import annotations

from app.db import queries, replica
from app.db.extensions import db


def close_all() -> None:
    """Close all, in a process that only waits from now on. Needs an app context."""
    _dispose(close=True)


def forget_all() -> None:
    """Drop the connections that a forked process inherited without closing them: they belong to the
    parent, and two processes cannot share one. Needs an app context."""
    _dispose(close=False)


def _dispose(*, close: bool) -> None:
    for engine in (*db.engines.values(), queries.engine(), *replica.engines()):
        engine.dispose(close=close)
