"""Deleting expired rows in batches, with pauses for other writers.

A batch is one transaction, which on SQLite blocks all other writers. Its size adapts to the time
that the last batch of the table took.
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

RUN_SECONDS: Final = 10.0  # other jobs wait
BATCH_SECONDS: Final = 0.005  # the aim for a transaction
LEAST_ROWS: Final = 100  # slow machines must keep up
MOST_ROWS: Final = 500  # for more, PostgreSQL would scan whole tables


class ExpiredRows(NamedTuple):
    """The rows of a table that expire after ``age``.

    ``time`` is the column with their time; ``to_column`` turns a time into a value of it. Only rows
    with ``condition`` expire. ``before_delete`` is called with the keys of rows that the open
    transaction is about to delete.
    """

    model: type[Base]
    time: Any
    age: timedelta
    condition: ColumnElement[bool] = true()
    to_column: Callable[[datetime], Any] = lambda time: time
    before_delete: Callable[[Sequence[Any]], None] | None = None


class TablePruner:
    """Deletes the rows of one table whose time is ``newest`` or before, the oldest first."""

    def __init__(self, expired: ExpiredRows, newest: Any, transaction: Transaction) -> None:
        self.batch_rows = LEAST_ROWS
        self.is_done = False
        self._expired = expired
        self._newest = newest
        self._transaction = transaction
        self._last_time: Any = None

    def delete_next(self) -> tuple[int, float]:
        """Delete a batch. Returns (rows deleted, ``time.monotonic`` when writing began)."""
        with self._transaction():
            db.session.connection()
            began = time.monotonic()
            times = db.session.scalars(self._deletion()).all()
        self.is_done = len(times) < self.batch_rows
        self._last_time = max(times, default=None)
        self.batch_rows = next_batch_rows(self.batch_rows, time.monotonic() - began)
        return len(times), began

    def _deletion(self) -> Executable:
        """The statement that deletes a batch and returns the times of its rows.

        It begins where the last batch ended, or PostgreSQL would pass over all deleted rows that
        are not vacuumed yet. Rows that another transaction has locked are left to the next run.
        """
        model, column, _, condition, _, before_delete = self._expired
        key = model.__mapper__.primary_key
        expired = select(*key).where(column <= self._newest, condition)
        if self._last_time is not None:
            expired = expired.where(column >= self._last_time)
        batch = expired.order_by(column).limit(self.batch_rows).with_for_update(skip_locked=True)
        keys: Any = select(*batch.cte("batch").c)
        if before_delete is not None:
            keys = [tuple(row) for row in db.session.execute(batch)]
            before_delete([row[0] for row in keys])
        statement = delete(model).where(tuple_(*key).in_(keys)).returning(column)
        return statement.execution_options(synchronize_session=False)


def next_batch_rows(rows: int, seconds: float) -> int:
    """The size of the batch after one of ``rows`` that took ``seconds``.

    It is at least half and at most twice that size, as a batch may have been held up.
    """
    fitting = rows * BATCH_SECONDS / max(seconds, 1e-6)
    fitting = min(max(fitting, rows / 2), rows * 2)
    return min(max(int(fitting), LEAST_ROWS), MOST_ROWS)


def has_expired(tables: Iterable[ExpiredRows]) -> bool:
    """True if something in these tables has expired."""
    now = clock.now()
    return any(
        has_rows(
            select(table.time).where(
                table.time <= table.to_column(now - table.age), table.condition
            )
        )
        for table in tables
    )


def prune_tables(tables: Iterable[ExpiredRows], transaction: Transaction) -> int:
    """Delete expired rows of several tables, a batch of each in turn.

    Stops when its time is up or the worker shuts down; the next run continues.

    Returns the number of rows, without those deleted by a cascade.
    """
    end, now, deleted = time.monotonic() + RUN_SECONDS, clock.now(), 0
    pruners = deque(
        TablePruner(table, table.to_column(now - table.age), transaction) for table in tables
    )
    while pruners:
        pruner = pruners.popleft()
        number, began = pruner.delete_next()
        deleted += number
        if not pruner.is_done:
            pruners.append(pruner)
        if pause_after(began) or time.monotonic() > end:
            break
    return deleted
