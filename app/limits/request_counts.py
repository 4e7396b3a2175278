"""Counting API requests without a database write for each.

Valkey holds a counter for each account and day (UTC), which the plan's daily limit applies to, and
a counter for each credential, without a limit. A counter begins with the number in the database, so
that it continues from there if Valkey loses its memory. A job copies changed counters into
``request_counts`` and ``credential_requests`` every few seconds. Copying one twice does no harm, so
the job can be killed at any time.

While Valkey is down, a process counts itself, and adds its counts afterwards. The reasons are in
``docs/adr/0008-request-counts.md``.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Final

from redis import Redis
from sqlalchemy import Select, bindparam, func, not_, or_
from sqlalchemy.exc import SQLAlchemyError

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.jobs.valkey import Script, valkey
from app.models import CredentialRequest, RequestCount
from app.values import clock

CHANGED: Final = "canopy:requests:changed"  # the counters that the job has to copy
KEPT_SECONDS: Final = 3 * 24 * 60 * 60  # in Valkey; by then the job has copied them
_FLUSHED_AT_ONCE: Final = 10  # by one request

# Adds ARGV[3] to the counter ARGV[1] in the hash of the day, KEYS[1]. A missing one begins with
# ARGV[4]; if that is unknown (''), nothing is changed and the answer is -1.
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

_unsent: Counter[tuple[str, str]] = Counter()  # by counter and day
_unsent_lock = threading.Lock()


def _of_days(model: Any, *columns: Any) -> Select[Any]:
    """The counters of some days."""
    return columns_of(model, *columns).where(
        model.day >= bindparam("first_day"), model.day <= bindparam("last_day")
    )


@cache
def _of_credentials() -> CompiledQuery:
    """Read the counters of some days for some credentials, and for the ``most`` others with most
    requests."""
    model = CredentialRequest
    is_wanted = is_among_ids(model.credential_id.expression)
    of_others = _of_days(model, model.credential_id).where(not_(is_wanted))
    active = of_others.group_by(model.credential_id).order_by(
        func.sum(model.requests).desc(), model.credential_id.desc()
    )
    rows = _of_days(model, model.credential_id, model.day, model.requests)
    in_active = model.credential_id.in_(active.limit(bindparam("most")))
    return CompiledQuery(rows.where(or_(is_wanted, in_active)))


_WRITTEN = CompiledQuery(_of_days(RequestCount, RequestCount.day, RequestCount.requests))
_WRITTEN_BY_CREDENTIAL = CompiledQuery(
    columns_of(CredentialRequest, CredentialRequest.requests).where(
        CredentialRequest.day == bindparam("day"),
        CredentialRequest.credential_id == bindparam("credential"),
    )
)


def today_utc() -> str:
    return clock.day_of(clock.now())


def day_key(day: str) -> str:
    """The hash of a day's counters, by their names."""
    return f"canopy:requests:{day}"


def credential_counter(account_id: str, credential: str) -> str:
    """The name of a credential's counter, which ``parts_of`` splits. An account's is its id."""
    return f"{account_id} {credential}"


def parts_of(name: str) -> tuple[str, ...]:
    return tuple(name.split(" "))


@lru_cache(maxsize=8)
def ends_at(day: str) -> int:
    """The end of a day, in seconds since 1970."""
    return int((datetime.fromisoformat(f"{day}T00:00:00+00:00") + timedelta(days=1)).timestamp())


def written_on(name: str, day: str) -> int:
    """The value of a counter on a day in the database."""
    account_id, *credential = parts_of(name)
    if credential:
        row = _WRITTEN_BY_CREDENTIAL.first(account_id=account_id, credential=credential[0], day=day)
    else:
        row = _WRITTEN.first(account_id=account_id, first_day=day, last_day=day)
    return int(row.requests) if row else 0


def count_locally(*counters: str) -> None:
    """Count one request in this process, as Valkey is down."""
    with _unsent_lock:
        for name in counters:
            _unsent[name, today_utc()] += 1


def flush_local_counts() -> None:
    """Add the counts of this process to the counters in Valkey, some at a time."""
    if not _unsent or valkey().is_down:
        return
    for _ in range(_FLUSHED_AT_ONCE):
        with _unsent_lock:
            if not _unsent:
                return
            (name, day), number = _unsent.popitem()
        try:
            # A failed one may have been added, and is not added again.
            _add_to_counter(name, day, number)
        except SQLAlchemyError:  # the beginning is unknown
            with _unsent_lock:
                _unsent[name, day] += number
            raise
        if valkey().is_down:
            return


def _add_to_counter(name: str, day: str, number: int) -> None:
    """Add ``number`` requests of a day to their counter."""
    keys, beginning = (day_key(day), CHANGED), ""
    for _ in range(2):
        values = (name, day, number, beginning, KEPT_SECONDS)
        if valkey().run(_ADD, keys, *values) != UNKNOWN:
            return
        beginning = str(written_on(name, day))


def requests_on(account_id: str, days: Sequence[str]) -> int:
    """The number of requests of an account on these consecutive days (UTC), up to now."""
    return sum(requests_by_day(account_id, days).values())


def requests_by_day(account_id: str, days: Sequence[str]) -> dict[str, int]:
    """The number of requests of an account on each of these consecutive days (UTC), up to now."""
    rows = _WRITTEN.all(account_id=account_id, first_day=days[0], last_day=days[-1])
    written = {(account_id, row.day): int(row.requests) for row in rows}
    counted = _up_to_now([account_id], days, written)
    return {day: counted[account_id, day] for day in days}


def requests_by_credential(
    account_id: str, credentials: Collection[str], days: Sequence[str], most_others: int
) -> dict[str, dict[str, int]]:
    """The requests of credentials of an account, by ``counted_as`` and by day, without zeros.

    Args:
        credentials: the credentials that can make requests.
        most_others: the number of others to include, those with most requests.
    """
    rows = _of_credentials().all(
        account_id=account_id,
        first_day=days[0],
        last_day=days[-1],
        ids=list(credentials),
        most=most_others,
    )
    written = {
        (credential_counter(account_id, row.credential_id), row.day): int(row.requests)
        for row in rows
    }
    names = {credential_counter(account_id, credential) for credential in credentials} | {
        name for name, _ in written
    }
    requests: dict[str, dict[str, int]] = {}
    for (name, day), number in _up_to_now(sorted(names), days, written).items():
        if number:
            requests.setdefault(parts_of(name)[1], {})[day] = number
    return requests


def _up_to_now(
    names: Sequence[str], days: Sequence[str], written: Mapping[tuple[str, str], int]
) -> Counter[tuple[str, str]]:
    """The requests of counters, by counter and day.

    A counter is equal to its row or ahead, unless Valkey has lost its memory.
    """
    counted = Counter(written)
    for key, number in _in_valkey(names, days).items():
        counted[key] = max(counted[key], number)
    with _unsent_lock:
        waiting = dict(_unsent)
    wanted_names, wanted_days = set(names), set(days)
    for (name, day), number in waiting.items():
        if name in wanted_names and day in wanted_days:
            counted[name, day] += number
    return counted


def _in_valkey(names: Sequence[str], days: Sequence[str]) -> dict[tuple[str, str], int]:
    """The counters that Valkey still has, by counter and day."""
    oldest = (clock.now() - timedelta(seconds=KEPT_SECONDS)).date().isoformat()
    days = [day for day in days if day >= oldest]

    def read(client: Redis) -> list[Any]:
        pipeline = client.pipeline(transaction=False)
        for day in days:
            pipeline.hmget(day_key(day), names)
        return pipeline.execute()

    answers = (valkey().attempt(read) or []) if names else []
    return {
        (name, day): int(number)
        for day, numbers in zip(days, answers, strict=False)
        for name, number in zip(names, numbers, strict=True)
        if number
    }
