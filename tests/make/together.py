"""Requests at the same moment, each in a thread with a connection of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

from sqlalchemy import text

from app.db.extensions import db
from tests.waiting import PATIENCE

T = TypeVar("T")

_WAITING: Final = text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def together(*calls: Callable[[], T]) -> list[T]:
    """The results of all calls, which wait for each other before they begin."""
    ready = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        ready.wait(timeout=PATIENCE)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def until_it_waits(call: Future[Any]) -> None:
    """Return once a call in another thread waits for a lock of PostgreSQL.

    Raises AssertionError if it ends without.
    """
    while not call.done():
        with db.engine.connect() as connection:
            if connection.execute(_WAITING).scalar_one():
                return
        time.sleep(0.01)
    raise AssertionError("it did not wait")
