"""The job that copies request counts from Valkey into the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Final, cast

from redis import Redis
from sqlalchemy import literal, select

from app.db.engines import insert_into
from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.jobs.valkey import valkey
from app.limits.request_counts import CHANGED, day_key
from app.models import Account, RequestCount
from app.usage.thresholds import update_requests_level

_CHUNK: Final = 500  # counters per transaction, which blocks all other writers on SQLite
_COLUMNS: Final = ("account_id", "day", "requests")

# Removes ARGV[1] from the set of changed counters, unless its value is no longer ARGV[3].
_MARK_COPIED: Final = f"""
local now = redis.call('HGET', KEYS[1], ARGV[2])
if not now or now == ARGV[3] then
    redis.call('SREM', '{CHANGED}', ARGV[1])
end
"""

DayCount = tuple[str, str, int]  # account, day, requests


def write_counts() -> int:
    """Copy the counters that changed since the last run. Returns how many."""
    client = valkey().client
    copied = 0
    members = cast("set[bytes]", client.smembers(CHANGED))
    for chunk in _chunks(sorted(member.decode() for member in members)):
        counts = _read_counters(client, chunk)
        with transaction():
            _write(counts)
        _mark_copied(client, counts)
        copied += len(counts)
    return copied


def _chunks(members: list[str]) -> Iterator[list[str]]:
    remaining = iter(members)
    while chunk := list(islice(remaining, _CHUNK)):
        yield chunk


def _read_counters(client: Redis, members: Iterable[str]) -> list[DayCount]:
    """The current values of counters."""
    names = [cast("tuple[str, str]", tuple(member.split(" "))) for member in members]
    pipeline = client.pipeline(transaction=False)
    for account_id, day in names:
        pipeline.hget(day_key(day), account_id)
    values = pipeline.execute()
    return [(*name, int(value or 0)) for name, value in zip(names, values, strict=True)]


def _write(counts: list[DayCount]) -> None:
    """Raise the rows to the counters, in the current transaction.

    Rows are never lowered: a counter below its row has restarted, after Valkey lost its data.
    """
    for account_id, day, number in counts:
        # Selected from accounts: after restoring a backup, the account may no longer exist.
        account = select(Account.id, literal(day), literal(number)).where(Account.id == account_id)
        row = insert_into(RequestCount).from_select(_COLUMNS, account)
        written = db.session.execute(
            row.on_conflict_do_update(
                index_elements=[RequestCount.account_id, RequestCount.day],
                set_={"requests": row.excluded.requests},
                where=RequestCount.requests < row.excluded.requests,
            ).returning(RequestCount.account_id)
        )
        if written.first() is not None:
            update_requests_level(account_id, datetime.fromisoformat(f"{day}T00:00:00+00:00"))


def _mark_copied(client: Redis, counts: list[DayCount]) -> None:
    pipeline = client.pipeline(transaction=False)
    for account_id, day, number in counts:
        pipeline.eval(_MARK_COPIED, 1, day_key(day), f"{account_id} {day}", account_id, str(number))
    pipeline.execute()


JOBS: Final = (Job(write_counts, every_seconds=15),)
