"""The totals of lists. One that took long to count is kept until the account changes.

A total is read together with the version of the account's lists, in one statement: what is kept
belongs to that version, whatever is written meanwhile. Each process keeps its own.
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
_KEPT_SECONDS: Final = 600.0  # changes with SQL that nobody reports change no version
_MOST: Final = 1_000  # totals, of all accounts

# The bytes of the history change with each change by a version of the service that has no
# lists_version yet, and runs beside this one during an upgrade.
_NAMES: Final = ("lists_version", "history_bytes")
_VERSION: Final = tuple(getattr(AccountUsage, name) for name in _NAMES)
_READ_VERSION: Final = CompiledQuery(columns_of(AccountUsage, *_VERSION))


class _Kept(NamedTuple):
    version: tuple[int, ...]
    total: int
    until: float


_kept: dict[tuple[str, bytes], _Kept] = {}  # by statement and parameters


def counting(keys: Select[Any]) -> CompiledQuery:
    """The statement that ``count`` needs.

    Args:
        keys: selects what is counted.
    """
    counted = select(func.count().label("total")).select_from(keys.subquery())
    version = (columns_of(AccountUsage, each).scalar_subquery() for each in _VERSION)
    return CompiledQuery(counted.add_columns(*version))


def count(
    query: CompiledQuery,
    values: dict[str, Any],
    cheapest: Callable[[], CompiledQuery] | None = None,
) -> int:
    """The total of a list.

    Args:
        query: made by ``counting``.
        values: its parameters, which include ``account_id``.
        cheapest: returns a statement with the same result, if finding it takes long itself.
    """
    key = query.text, hashlib.sha256(repr(values).encode()).digest()
    kept, began = _kept.get(key), time.monotonic()
    if kept is not None and began < kept.until and [kept.version] == _READ_VERSION.tuples(**values):
        return kept.total
    [(total, *version)] = (cheapest() if cheapest else query).tuples(**values)
    if time.monotonic() - began >= LONG_SECONDS:
        _kept.pop(key, None)
        _kept[key] = _Kept(tuple(version), total, began + _KEPT_SECONDS)
        for oldest in list(_kept)[:-_MOST]:
            _kept.pop(oldest, None)
    return int(total)


def version(account_id: str) -> object:
    """A value that differs after each change of an account's projects and assets."""
    return _READ_VERSION.tuples(account_id=account_id)


def forget() -> None:
    """Count all anew, for measurements."""
    _kept.clear()
