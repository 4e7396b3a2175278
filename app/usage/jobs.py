"""The job that copies request counts from Valkey into the database."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, cast

from redis import Redis
from sqlalchemy import literal, select

from app.db.engines import insert_into
from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.jobs.valkey import valkey
from app.limits.request_counts import CHANGED, day_key, parts_of
from app.models import Account, CredentialRequest, RequestCount
from app.usage.thresholds import update_requests_level

_CHUNK: Final = 500  # counters per transaction, which blocks all other writers on SQLite

# The table of a counter, by the number of parts of its name, and their columns.
_TABLES: Final[dict[int, Any]] = {1: RequestCount, 2: CredentialRequest}
_COLUMNS: Final = ("account_id", "credential_id")

# Removes ARGV[1] from the set of changed counters, unless its value is no longer ARGV[3].
_MARK_COPIED: Final = f"""
local now = redis.call('HGET', KEYS[1], ARGV[2])
if not now or now == ARGV[3] then
    redis.call('SREM', '{CHANGED}', ARGV[1])
end
"""

DayCount = tuple[str, str, int]  # counter, day, requests


def write_counts() -> int:
    """Copy the counters that changed since the last run. Returns their number."""
    client = valkey().client
    copied = 0
    changed = cast("set[bytes]", client.smembers(CHANGED))
    members = sorted(member.decode() for member in changed)
    for start in range(0, len(members), _CHUNK):
        counts = _read_counters(client, members[start : start + _CHUNK])
        with transaction():
            _write_days(counts)
        _mark_copied(client, counts)
        copied += len(counts)
    return copied


def _read_counters(client: Redis, members: Iterable[str]) -> list[DayCount]:
    """Read the current values of counters."""
    names = [member.rpartition(" ")[::2] for member in members]
    pipeline = client.pipeline(transaction=False)
    for name, day in names:
        pipeline.hget(day_key(day), name)
    values = pipeline.execute()
    return [
        (*name_and_day, int(value or 0)) for name_and_day, value in zip(names, values, strict=True)
    ]


def _write_days(counts: list[DayCount]) -> None:
    """Raise the rows to the values of the counters, in the current transaction.

    Rows are never lowered: a counter below its row has restarted after Valkey lost its data.
    """
    for name, day, number in counts:
        parts = parts_of(name)
        was_written = _raise_row(_TABLES[len(parts)], parts, day, number)
        if was_written and len(parts) == 1:
            update_requests_level(name, datetime.fromisoformat(f"{day}T00:00:00+00:00"))


def _raise_row(model: Any, parts: tuple[str, ...], day: str, number: int) -> bool:
    """Raise the row of a counter. Returns False if it was not lower."""
    account_id, *of = parts
    keys = [*_COLUMNS[: len(parts)], "day"]
    # Selected from accounts: after restoring a backup, the account may no longer exist.
    values = select(Account.id, *map(literal, of), literal(day), literal(number))
    row = insert_into(model).from_select(
        [*keys, "requests"], values.where(Account.id == account_id)
    )
    written = db.session.execute(
        row.on_conflict_do_update(
            index_elements=keys,
            set_={"requests": row.excluded.requests},
            where=model.requests < row.excluded.requests,
        ).returning(model.account_id)
    )
    return written.first() is not None


def _mark_copied(client: Redis, counts: list[DayCount]) -> None:
    pipeline = client.pipeline(transaction=False)
    for name, day, number in counts:
        pipeline.eval(_MARK_COPIED, 1, day_key(day), f"{name} {day}", name, str(number))
    pipeline.execute()


JOBS: Final = (
    Job(write_counts, every_seconds=15, is_due=lambda: bool(valkey().client.exists(CHANGED))),
)
