"""The job that copies request counts from the store into the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Final, cast

from redis import Redis
from sqlalchemy import literal, select

from app.db.engines import insert_into
from app.db.extensions import db
from app.jobs.registry import Job
from app.jobs.valkey import valkey
from app.limits.request_counts import CHANGED, day_key
from app.models import Account, RequestCount
from app.usage.thresholds import note_requests

_CHUNK: Final = 500  # accounts a transaction; on SQLite nobody else writes meanwhile
_COLUMNS: Final = ("account_id", "day", "requests")

# Takes ARGV[1] off the list of what has to be copied, unless its counter has gone past ARGV[3].
_COPIED: Final = f"""
local now = redis.call('HGET', KEYS[1], ARGV[2])
if not now or now == ARGV[3] then
    redis.call('SREM', '{CHANGED}', ARGV[1])
end
"""

Counted = tuple[str, str, int]  # account, day, requests


def write_counts() -> int:
    """Copy the counters that changed since the last run. Returns how many they were."""
    client = valkey().client
    copied = 0
    members = cast("set[bytes]", client.smembers(CHANGED))
    for chunk in _chunks(sorted(member.decode() for member in members)):
        counts = _counted(client, chunk)
        _write(counts)
        _note_copied(client, counts)
        copied += len(counts)
    return copied


def _chunks(members: list[str]) -> Iterator[list[str]]:
    rest = iter(members)
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk


def _counted(client: Redis, members: Iterable[str]) -> list[Counted]:
    """The counters as they are now."""
    names = [cast("tuple[str, str]", tuple(member.split(" "))) for member in members]
    pipeline = client.pipeline(transaction=False)
    for account_id, day in names:
        pipeline.hget(day_key(day), account_id)
    values = pipeline.execute()
    return [(*name, int(value or 0)) for name, value in zip(names, values, strict=True)]


def _write(counts: list[Counted]) -> None:
    """Bring the rows up to the counters, in one transaction. None is ever set back: a counter that
    is behind its row begins anew, in a store that lost its memory."""
    for account_id, day, number in counts:
        # Out of the account's row: it may be gone, since a backup was restored.
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
            note_requests(account_id, datetime.fromisoformat(f"{day}T00:00:00+00:00"))
    db.session.commit()


def _note_copied(client: Redis, counts: list[Counted]) -> None:
    pipeline = client.pipeline(transaction=False)
    for account_id, day, number in counts:
        pipeline.eval(_COPIED, 1, day_key(day), f"{account_id} {day}", account_id, str(number))
    pipeline.execute()


JOBS: Final = (Job(write_counts, every_seconds=15),)
