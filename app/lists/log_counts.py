"""Counting the entries of a log.

Counting a million entries takes a tenth of a second even from an index. So each process caches the
number of old entries of a long log, and counts only newer ones.
"""

from __future__ import annotations

import time
from datetime import timedelta
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func

from app.db.queries import CompiledQuery
from app.lists.logs import Log
from app.values import clock
from app.values.ids import first_id

LONG: Final = 20_000  # entries; fewer are counted each time
FINAL_AFTER: Final = timedelta(seconds=20)  # no entry with an older id is inserted later
_CACHED_SECONDS: Final = 600.0
CACHE_SIZE: Final = 1_000

_TOTAL: Final = func.count().label("total")


class CachedCount(NamedTuple):
    """The number of entries from ``first``, the first id of the log, to the id ``upto``."""

    first: str
    upto: str
    number: int
    counted_at: float


# By the kind of the log, and the parameters, which are the owner and the filters.
_cache: dict[tuple[str, frozenset[tuple[str, Any]]], CachedCount] = {}


def log_total(log: Log, values: dict[str, Any]) -> int:
    """The total of a list of a log's entries.

    Args:
        values: the parameters of ``log.filtered``.
    """
    of_all = log.kind, frozenset((name, values[name]) for name in log.own)
    key = log.kind, frozenset(values.items())
    cached = _cache.get(key)
    if cached is not None and _is_valid(log, cached, values):
        return cached.number + _count_after(log, cached.upto, values)
    upto = first_id(log.kind, clock.now() - FINAL_AFTER)
    number = _count_before(log, upto, values)
    total = number + _count_after(log, upto, values)
    if total >= LONG or of_all in _cache:  # also rare entries of a long log
        if len(_cache) >= CACHE_SIZE:
            for oldest in list(_cache)[:1]:
                _cache.pop(oldest, None)
        _cache[key] = CachedCount(_first_entry_id(log, values), upto, number, time.monotonic())
    return total


# SQLite uses only one of several lower or upper bounds of an index, so two get the same value.
def _count_before(log: Log, upto: str, values: dict[str, Any]) -> int:
    ends = {"until_id": min(values["until_id"], upto)} if "until_id" in values else {}
    query = _count_until_query(log, frozenset(values))
    return int(query.scalar(**values | ends, upto=upto))


def _count_after(log: Log, upto: str, values: dict[str, Any]) -> int:
    begins = {"since_id": max(values["since_id"], upto)} if "since_id" in values else {}
    query = _count_after_query(log, frozenset(values))
    return int(query.scalar(**values | begins, upto=upto))


def _is_valid(log: Log, cached: CachedCount, values: dict[str, Any]) -> bool:
    """True if no entry was deleted since then; the oldest are deleted first."""
    is_fresh = time.monotonic() < cached.counted_at + _CACHED_SECONDS
    return is_fresh and _first_entry_id(log, values) == cached.first


def _first_entry_id(log: Log, values: dict[str, Any]) -> str:
    return _first_id_query(log).scalar(**{name: values[name] for name in log.own}) or ""


@cache
def _count_until_query(log: Log, filters: frozenset[str]) -> CompiledQuery:
    return CompiledQuery(log.filtered(_TOTAL, filters).where(log.key <= bindparam("upto")))


@cache
def _count_after_query(log: Log, filters: frozenset[str]) -> CompiledQuery:
    return CompiledQuery(log.filtered(_TOTAL, filters).where(log.key > bindparam("upto")))


@cache
def _first_id_query(log: Log) -> CompiledQuery:
    return CompiledQuery(log.filtered(func.min(log.key).label("first"), frozenset()))
