"""The room that a database takes before and after a measurement, and in between."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import text

from app.db.extensions import db

_EVERY: Final = 0.2  # seconds
_TABLES: Final = ("events", "deliveries", "delivery_logs")


@contextmanager
def watched() -> Iterator[list[str]]:
    """Gives a list that has lines about the database once the block has ended."""
    lines: list[str] = []
    watch = _sqlite if db.engine.dialect.name == "sqlite" else _postgres
    with watch(lines):
        yield lines


@contextmanager
def _sqlite(lines: list[str]) -> Iterator[None]:
    path = Path(str(db.engine.url.database))
    log, before = path.with_name(path.name + "-wal"), path.stat().st_size
    ended, sizes = threading.Event(), [0]

    def watch() -> None:
        while not ended.wait(_EVERY):
            sizes.append(log.stat().st_size if log.exists() else 0)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    page, pages, free = (
        _value(f"PRAGMA {name}") for name in ("page_size", "page_count", "freelist_count")
    )
    lines.append(
        f"The file had {before / 1e6:,.0f} MB before and has {page * pages / 1e6:,.0f} MB after, "
        f"{page * free / 1e6:,.0f} MB of them free for new rows; its log had at most "
        f"{max(sizes) / 1e6:,.0f} MB."
    )


@contextmanager
def _postgres(lines: list[str]) -> Iterator[None]:
    position = str(_value("SELECT pg_current_wal_lsn()"))
    before = [_table(name) for name in _TABLES]
    yield
    written = float(_value(f"SELECT pg_current_wal_lsn() - '{position}'::pg_lsn"))
    lines.append(f"PostgreSQL wrote {written / 1e6:,.0f} MB of its log.")
    for name, first in zip(_TABLES, before, strict=True):
        last = _table(name)
        lines.append(
            f"`{name}` with its indexes: {first.size / 1e6:,.0f} MB before, {last.size / 1e6:,.0f} "
            f"MB after; {last.dead:,} dead rows, autovacuum ran {last.runs - first.runs} times."
        )


class _Table(NamedTuple):
    size: int  # bytes, with the indexes
    dead: int  # rows
    runs: int  # of autovacuum


def _table(name: str) -> _Table:
    own = f"FROM pg_stat_user_tables WHERE relname = '{name}'"
    columns = (f"pg_total_relation_size('{name}')", "n_dead_tup", "autovacuum_count")
    return _Table(*(_value(f"SELECT {column} {own}") for column in columns))


def _value(statement: str) -> Any:
    try:
        return db.session.scalar(text(statement))
    finally:
        db.session.rollback()
