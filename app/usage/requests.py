"""Counting API requests without a database write a request.

A request adds one to a hash in the store. Every few seconds a job renames that hash to a batch,
adds the batch to ``request_counts`` in one transaction that also notes the batch's id, and deletes
it. A job that dies half way leaves the batch in the store, and the next one finds out from the
noted id whether it was written. So nothing is counted twice, and a store that loses its memory
loses what came since the last run.

While the store is down a process counts for itself, and hands its count over when it is back.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from redis import Redis
from sqlalchemy import bindparam, exists, func, select

from app.core import clock
from app.core.reading import Prepared
from app.core.store import store
from app.models import RequestCount, RequestCountBatch

PENDING: Final = "canopy:requests:pending"
BATCH: Final = "canopy:requests:batch"
LAST_BATCH: Final = "canopy:requests:last"  # the id of the batch that was begun last
BATCH_ID: Final = "id"  # a field of the batch, beside those of the accounts

_unsent: Counter[str] = Counter()
_unsent_lock = threading.Lock()

_WRITTEN = Prepared(
    select(
        func.coalesce(func.sum(RequestCount.requests), 0).label("requests"),
        exists().where(RequestCountBatch.id == bindparam("batch")).label("with_batch"),
    ).where(
        RequestCount.account_id == bindparam("account_id"),
        RequestCount.day >= bindparam("first_day"),
        RequestCount.day <= bindparam("last_day"),
    )
)


def field(account_id: str, day: str) -> str:
    """The name of an account's counter of one day."""
    return f"{account_id} {day}"


def today() -> str:
    return clock.now().date().isoformat()


def count(account_id: str) -> None:
    """Count one allowed request of the account, now."""
    name = field(account_id, today())
    if _unsent:
        _hand_over()
    if store().ask("HINCRBY", PENDING, name, 1) is None:
        with _unsent_lock:
            _unsent[name] += 1


def _hand_over() -> None:
    with _unsent_lock:
        waiting = dict(_unsent)
        _unsent.clear()

    def add(client: Redis) -> list[Any]:
        pipeline = client.pipeline(transaction=True)
        for name, number in waiting.items():
            pipeline.hincrby(PENDING, name, number)
        return pipeline.execute()

    if store().attempt(add) is None:
        with _unsent_lock:
            _unsent.update(waiting)


def requests_on(account_id: str, days: Sequence[str]) -> int:
    """How many requests an account made on these consecutive days (UTC), up to this moment.

    The counters in the store and the rows in the database are two places. A job may move counts
    from one to the other meanwhile. Whether the batch that was seen is in the rows is asked in the
    statement that adds them up; when another batch was begun since, it looks again.
    """
    period = {"account_id": account_id, "first_day": days[0], "last_day": days[-1]}
    names = [field(account_id, day) for day in days]
    while True:
        stored = _in_store(names)
        written = _WRITTEN.first(**period, batch=stored.batch)
        moving = 0 if written.with_batch else stored.moving
        if _in_store(names).last == stored.last:
            unsent = sum(_unsent[name] for name in names)
            return int(written.requests) + stored.pending + moving + unsent


class _Stored(NamedTuple):
    """What the store holds of an account: the pending count, and that of the batch on its way."""

    last: bytes | None
    pending: int
    batch: str
    moving: int


def _in_store(names: list[str]) -> _Stored:
    def look(client: Redis) -> Any:
        pipeline = client.pipeline(transaction=True)
        pipeline.get(LAST_BATCH)
        pipeline.hmget(PENDING, names)
        pipeline.hmget(BATCH, [BATCH_ID, *names])
        return pipeline.execute()

    found = store().attempt(look)
    if found is None:
        return _Stored(None, 0, "", 0)
    last, pending, (batch, *moving) = found
    return _Stored(last, _sum(pending), (batch or b"").decode(), _sum(moving))


def _sum(counts: Iterable[bytes | None]) -> int:
    return sum(int(number) for number in counts if number is not None)
