"""Deletes expired rows batch by batch, with pauses in which other changes have their turn.

A batch is one transaction, which on SQLite blocks all other writers. How many rows it may have
depends on the machine, the database and the table, so each table's batches become smaller or larger
with the time that they take.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Executable, delete, select, true, tuple_

from app.db.column_types import Base
from app.db.extensions import db
from app.db.queries import has_rows
from app.db.transactions import Transaction
from app.jobs.pauses import pause_after
from app.values import clock

RUN_SECONDS: Final = 10.0  # of a job; mails and all other jobs wait for it
BATCH_SECONDS: Final = 0.005  # that a transaction should take
LEAST_ROWS: Final = 100  # of a batch, and of the first of each table; a slow machine must keep up
MOST_ROWS: Final = 500  # for more, PostgreSQL would rather read the whole of a middling table


class ExpiredRows(NamedTuple):
    """The rows of a table whose time is more than ``age`` ago."""

    model: type[Base]
    time: Any  # the column
    age: timedelta
    condition: ColumnElement[bool] = true()  # of the rows that can expire
    to_column: Callable[[datetime], Any] = lambda time: time  # a time as a value of the column
    # Called with the keys of rows that the open transaction is about to delete.
    before: Callable[[Sequence[Any]], None] | None = None


class Batches:
    """Deletes the rows of one table whose time is ``newest`` or before, the oldest first."""

    def __init__(self, rows: ExpiredRows, newest: Any, transaction: Transaction) -> None:
        self.rows = LEAST_ROWS  # of the next batch, at most
        self.is_done = False
        self._expired = rows
        self._newest = newest
        self._transaction = transaction
        self._last: Any = None  # the time of the last row deleted

    def delete_next(self) -> tuple[int, float]:
        """Delete a batch. Returns the number of rows deleted, and when the transaction began to
        write, by ``time.monotonic``."""
        with self._transaction():
            db.session.connection()
            began = time.monotonic()
            times = db.session.scalars(self._deletion()).all()
        self.is_done = len(times) < self.rows
        self._last = max(times, default=None)
        self.rows = next_rows(self.rows, time.monotonic() - began)
        return len(times), began

    def _deletion(self) -> Executable:
        """The statement that deletes a batch and returns the times of its rows.

        A batch begins where the last one ended, or PostgreSQL would pass over all the rows that
        are deleted and not vacuumed yet. Rows that another transaction holds are left to the next
        run.
        """
        model, column, _, condition, _, before = self._expired
        key = model.__mapper__.primary_key
        expired = select(*key).where(column <= self._newest, condition)
        if self._last is not None:
            expired = expired.where(column >= self._last)
        batch = expired.order_by(column).limit(self.rows).with_for_update(skip_locked=True)
        chosen: Any = select(*batch.cte("batch").c)
        if before is not None:
            chosen = [tuple(row) for row in db.session.execute(batch)]
            before([row[0] for row in chosen])
        statement = delete(model).where(tuple_(*key).in_(chosen)).returning(column)
        return statement.execution_options(synchronize_session=False)


def next_rows(rows: int, seconds: float) -> int:
    """The size of the next batch, after one of ``rows`` that took ``seconds``.

    At most twice and at least half the last one, as any batch may have been held up.
    """
    fitting = rows * BATCH_SECONDS / max(seconds, 1e-6)
    fitting = min(max(fitting, rows / 2), rows * 2)
    return min(max(int(fitting), LEAST_ROWS), MOST_ROWS)


def has_expired(tables: Iterable[ExpiredRows]) -> bool:
    """True if something in these tables has expired."""
    now = clock.now()
    return any(
        has_rows(
            select(rows.time).where(rows.time <= rows.to_column(now - rows.age), rows.condition)
        )
        for rows in tables
    )


def prune_tables(tables: Iterable[ExpiredRows], transaction: Transaction) -> int:
    """Delete what has expired in some tables, in turns, so that none waits for another.

    Stops when its time is up, or the worker is asked to stop; the next run continues.

    Returns the number of rows deleted, not counting those deleted by a cascade.
    """
    end, now, deleted = time.monotonic() + RUN_SECONDS, clock.now(), 0
    waiting = deque(Batches(rows, rows.to_column(now - rows.age), transaction) for rows in tables)
    while waiting:
        batches = waiting.popleft()
        number, began = batches.delete_next()
        deleted += number
        if not batches.is_done:
            waiting.append(batches)
        if pause_after(began) or time.monotonic() > end:
            break
    return deleted
