"""The totals of lists. One that took long to count is cached until the account changes.

A total is read together with the version of the account's lists, in one statement: it belongs to
that version, whatever is written meanwhile. Each process has its own cache.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, func, select

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import AccountUsage

LONG_SECONDS: Final = 0.002  # reading the version takes a tenth of it
_CACHED_SECONDS: Final = 600.0  # changes with SQL that nobody reports change no version
CACHE_SIZE: Final = 1_000  # totals, of all accounts

_READ_VERSION: Final = CompiledQuery(columns_of(AccountUsage, AccountUsage.lists_version))


class _CachedTotal(NamedTuple):
    version: int
    total: int
    until: float


_cache: dict[tuple[str, bytes], _CachedTotal] = {}  # by statement and parameters


def count_statement(keys: Select[Any]) -> CompiledQuery:
    """The statement that ``count_total`` needs.

    Args:
        keys: selects what is counted.
    """
    counted = select(func.count().label("total")).select_from(keys.subquery())
    version = columns_of(AccountUsage, AccountUsage.lists_version).scalar_subquery()
    return CompiledQuery(counted.add_columns(version))


def count_total(
    query: CompiledQuery,
    values: dict[str, Any],
    cheapest: Callable[[], CompiledQuery] | None = None,
) -> int:
    """The total of a list.

    Args:
        query: made by ``count_statement``.
        values: its parameters, which include ``account_id``.
        cheapest: returns a statement with the same result, if finding it takes long itself.
    """
    key = query.text, hashlib.sha256(repr(values).encode()).digest()
    cached, began = _cache.get(key), time.monotonic()
    if cached is not None and began < cached.until:
        [(version,)] = _READ_VERSION.tuples(**values) or [(None,)]
        if version == cached.version:
            return cached.total
    [(total, version)] = (cheapest() if cheapest else query).tuples(**values)
    if time.monotonic() - began >= LONG_SECONDS:
        _cache.pop(key, None)
        _cache[key] = _CachedTotal(version, total, began + _CACHED_SECONDS)
        for oldest in list(_cache)[:-CACHE_SIZE]:
            _cache.pop(oldest, None)
    return int(total)


def lists_version(account_id: str) -> object:
    """A value that differs after each change of an account's projects and assets."""
    return _READ_VERSION.tuples(account_id=account_id)


def forget_totals() -> None:
    """Empty the cache, for measurements."""
    _cache.clear()
