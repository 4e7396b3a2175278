"""Counting API requests without a database write a request.

Valkey holds one counter for each account and day (UTC): the number of requests of that day, and
what the day's limit of the plan is held against. It begins with what the database has, so that a
Valkey that lost its memory goes on from there. A job copies the counters that changed into
``request_counts`` every few seconds. To copy one twice does no harm, so it matters nowhere where
the job is killed.

While Valkey is down a process counts for itself, and adds its count when it is back.
``docs/adr/0008-request-counts.md`` tells why.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from redis import Redis
from sqlalchemy import bindparam
from sqlalchemy.exc import SQLAlchemyError

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.jobs.valkey import Script, valkey
from app.models import RequestCount
from app.values import clock

CHANGED: Final = "canopy:requests:changed"  # the counters that the job has to copy
KEPT_SECONDS: Final = 3 * 24 * 60 * 60  # in Valkey; by then the job has copied them
_FLUSHED_AT_ONCE: Final = 10  # by one request

# Adds ARGV[3] to the counter of the account ARGV[1] in the hash of the day, KEYS[1]. One that is
# not there begins with ARGV[4]; where that is not known (''), nothing is done and the answer is -1.
_ADD: Final = Script("""
local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known then
    if ARGV[4] == '' then return -1 end
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
    redis.call('EXPIRE', KEYS[1], ARGV[5])
end
redis.call('SADD', KEYS[2], ARGV[1] .. ' ' .. ARGV[2])
return redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[3])
""")
UNKNOWN: Final = -1

_unsent: Counter[tuple[str, str]] = Counter()  # by account and day
_unsent_lock = threading.Lock()

_WRITTEN = CompiledQuery(
    columns_of(RequestCount, RequestCount.day, RequestCount.requests).where(
        RequestCount.day >= bindparam("first_day"),
        RequestCount.day <= bindparam("last_day"),
    )
)


def today() -> str:
    return clock.now().date().isoformat()


def day_key(day: str) -> str:
    """The hash of a day's counters, by account."""
    return f"canopy:requests:{day}"


@lru_cache(maxsize=8)
def ends_at(day: str) -> int:
    """When a day ends, in seconds since 1970."""
    return int((datetime.fromisoformat(f"{day}T00:00:00+00:00") + timedelta(days=1)).timestamp())


def written_on(account_id: str, day: str) -> int:
    """What the database has of an account's requests on a day."""
    rows = _WRITTEN.all(account_id=account_id, first_day=day, last_day=day)
    return int(rows[0].requests) if rows else 0


def count_locally(account_id: str) -> None:
    """Count one request in this process, as Valkey is down."""
    with _unsent_lock:
        _unsent[account_id, today()] += 1


def flush_local_counts() -> None:
    """Add what this process counted for itself to the counters in Valkey, some at a time."""
    if not _unsent or valkey().is_down:
        return
    for _ in range(_FLUSHED_AT_ONCE):
        with _unsent_lock:
            if not _unsent:
                return
            (account_id, day), number = _unsent.popitem()
        try:
            # One that fails may have been added all the same, and is not added again.
            _add(account_id, day, number)
        except SQLAlchemyError:  # nobody knows what to begin with
            with _unsent_lock:
                _unsent[account_id, day] += number
            raise
        if valkey().is_down:
            return


def _add(account_id: str, day: str, number: int) -> None:
    """Add so many requests of a day to their counter."""
    keys, beginning = (day_key(day), CHANGED), ""
    for _ in range(2):
        values = (account_id, day, number, beginning, KEPT_SECONDS)
        if valkey().run(_ADD, keys, *values) != UNKNOWN:
            return
        beginning = str(written_on(account_id, day))


def requests_on(account_id: str, days: Sequence[str]) -> int:
    """How many requests an account made on these consecutive days (UTC), up to this moment.

    The counter of a day is ahead of its row or equal to it. Where it is behind, Valkey has lost
    its memory.
    """
    counted = dict.fromkeys(days, 0)
    for row in _WRITTEN.all(account_id=account_id, first_day=days[0], last_day=days[-1]):
        counted[row.day] = int(row.requests)
    for day, number in _in_valkey(account_id, days).items():
        counted[day] = max(counted[day], number)
    return sum(counted.values()) + sum(_unsent[account_id, day] for day in days)


def _in_valkey(account_id: str, days: Sequence[str]) -> dict[str, int]:
    """The counters that Valkey still has."""

    def read(client: Redis) -> list[Any]:
        pipeline = client.pipeline(transaction=False)
        for day in days:
            pipeline.hget(day_key(day), account_id)
        return pipeline.execute()

    found = valkey().attempt(read) or []
    return {day: int(number) for day, number in zip(days, found, strict=False) if number}
