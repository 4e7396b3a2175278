"""Counting the entries of a webhook's log.

A webhook that fails for days under much traffic has hundreds of thousands of entries, and counting
them takes a tenth of a second even from an index. So each process caches how many old entries a
long log has, and counts only those since.
"""

from __future__ import annotations

import time
from datetime import timedelta
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func

from app.db.queries import CompiledQuery
from app.models import DeliveryLog
from app.values import clock
from app.values.ids import first_id
from app.webhooks.logs.filters import LogStatementFilters, filtered

LONG: Final = 20_000  # entries; fewer are counted each time
_FINAL_AFTER: Final = timedelta(seconds=20)  # when no entry with an older id can still be inserted
_CACHED_SECONDS: Final = 600.0
_CACHE_SIZE: Final = 1_000

_ALL: Final = LogStatementFilters()
_OWN: Final = ("account_id", "webhook_id")
_TOTAL: Final = func.count().label("total")


class CachedCount(NamedTuple):
    """The number of entries from the ``first`` of the log to the id ``upto``."""

    first: str
    upto: str
    number: int
    counted_at: float


_Key = tuple[Any, ...]  # the webhook, and the values of the filters or None
_cache: dict[_Key, CachedCount] = {}


def count(values: dict[str, Any]) -> int:
    """The number of entries.

    Args:
        values: the parameters of ``filtered``.
    """
    filters = LogStatementFilters.of(values)
    key = values["webhook_id"], *(values.get(name) for name in LogStatementFilters._fields)
    cached = _cache.get(key)
    if cached is not None and _is_valid(cached, values):
        return cached.number + _count_after(cached.upto, filters, values)
    upto = first_id("log", clock.now() - _FINAL_AFTER)
    number = _count_before(upto, filters, values)
    total = number + _count_after(upto, filters, values)
    of_all = key[0], *(None,) * len(filters)
    if total >= LONG or of_all in _cache:  # of a long log, also what is rare in it
        if len(_cache) >= _CACHE_SIZE:
            for oldest in list(_cache)[:1]:
                _cache.pop(oldest, None)
        _cache[key] = CachedCount(_first_of(values), upto, number, time.monotonic())
    return total


# SQLite begins at one lower bound of an index, whichever it likes, and ends at one upper bound: two
# have the same value.
def _count_before(upto: str, filters: LogStatementFilters, values: dict[str, Any]) -> int:
    ends = {"until_id": min(values["until_id"], upto)} if filters.until else {}
    return int(_before(filters).scalar(**values | ends, upto=upto))


def _count_after(upto: str, filters: LogStatementFilters, values: dict[str, Any]) -> int:
    begins = {"since_id": max(values["since_id"], upto)} if filters.since else {}
    return int(_after(filters).scalar(**values | begins, upto=upto))


def _is_valid(cached: CachedCount, values: dict[str, Any]) -> bool:
    """Whether no entry was deleted since; the oldest are deleted first."""
    is_fresh = time.monotonic() < cached.counted_at + _CACHED_SECONDS
    return is_fresh and _first_of(values) == cached.first


def _first_of(values: dict[str, Any]) -> str:
    return _first().scalar(**{name: values[name] for name in _OWN}) or ""


@cache
def _before(filters: LogStatementFilters) -> CompiledQuery:
    return CompiledQuery(filtered(_TOTAL, filters).where(DeliveryLog.id <= bindparam("upto")))


@cache
def _after(filters: LogStatementFilters) -> CompiledQuery:
    return CompiledQuery(filtered(_TOTAL, filters).where(DeliveryLog.id > bindparam("upto")))


@cache
def _first() -> CompiledQuery:
    return CompiledQuery(filtered(func.min(DeliveryLog.id).label("first"), _ALL))
