"""How many entries there are in a webhook's log.

One that fails for days beside much traffic has hundreds of thousands, and counting them takes a
tenth of a second, from an index too. So each process remembers how many old ones a long log has,
and counts those that came since.
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
from app.webhooks.logs.filters import Filters, chosen

LONG: Final = 20_000  # entries; fewer are counted each time
_SETTLED: Final = timedelta(seconds=20)  # after it no entry comes whose id was made before
_GOOD_FOR: Final = 600.0  # seconds
_MOST: Final = 1_000  # logs that are remembered

_ALL: Final = Filters(False, False)
_TOTAL: Final = func.count().label("total")


class CachedCount(NamedTuple):
    """So many entries from the ``first`` of the log to the id ``upto``."""

    first: str
    upto: str
    number: int
    counted_at: float


_counted: dict[tuple[str, str | None, str | None], CachedCount] = {}


def count(values: dict[str, Any]) -> int:
    """The number of entries.

    Args:
        values: the parameters of ``chosen``; without ``status`` or ``event_type`` it is not
            filtered by them.
    """
    filters = Filters("status" in values, "event_type" in values)
    key = values["webhook_id"], values.get("status"), values.get("event_type")
    known = _counted.get(key)
    if known is not None and _is_good(known, values):
        return known.number + int(_after(filters).scalar(**values, upto=known.upto))
    upto = first_id("log", clock.now() - _SETTLED)
    number = int(_before(filters).scalar(**values, upto=upto))
    total = number + int(_after(filters).scalar(**values, upto=upto))
    if total >= LONG or (key[0], None, None) in _counted:  # of a long log also what is seldom in it
        if len(_counted) >= _MOST:
            _counted.clear()
        _counted[key] = CachedCount(_first_of(values), upto, number, time.monotonic())
    return total


def _is_good(known: CachedCount, values: dict[str, Any]) -> bool:
    """Whether no entry was deleted since: the oldest are, once they are old enough."""
    is_fresh = time.monotonic() < known.counted_at + _GOOD_FOR
    return is_fresh and _first_of(values) == known.first


def _first_of(values: dict[str, Any]) -> str:
    own = {name: values[name] for name in ("account_id", "webhook_id")}
    return _first().scalar(**own) or ""


@cache
def _before(filters: Filters) -> CompiledQuery:
    return CompiledQuery(chosen(_TOTAL, filters).where(DeliveryLog.id <= bindparam("upto")))


@cache
def _after(filters: Filters) -> CompiledQuery:
    return CompiledQuery(chosen(_TOTAL, filters).where(DeliveryLog.id > bindparam("upto")))


@cache
def _first() -> CompiledQuery:
    return CompiledQuery(chosen(func.min(DeliveryLog.id).label("first"), _ALL))
