"""The open database connections of this process, all of them."""

from __future__ import annotations

from app.db import queries
from app.db.extensions import db


def close_all() -> None:
    """Keep no connection open, in a process that only waits from now on. Needs an app context."""
    _dispose(close=True)


def forget_all() -> None:
    """Leave the connections to the process that this one was forked from, whose they are: two
    that speak on one of them break it. Needs an app context."""
    _dispose(close=False)


def _dispose(*, close: bool) -> None:
    for engine in (*db.engines.values(), queries.engine()):
        engine.dispose(close=close)
