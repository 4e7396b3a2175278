"""The job that moves request counts from the store into the database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from redis import Redis
from sqlalchemy import delete, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from app.core import clock
from app.core.ids import new_id
from app.core.store import store
from app.extensions import db
from app.models import Account, RequestCount, RequestCountBatch
from app.usage.requests import BATCH, BATCH_ID, LAST_BATCH, PENDING

_KEEP_BATCH_IDS: Final = timedelta(days=1)
_COLUMNS: Final = ("account_id", "day", "requests")

# Renames the pending counts to a batch with an id, in one step; leaves a batch that is there alone.
_BEGIN_BATCH: Final = f"""
if redis.call('EXISTS', KEYS[2]) == 0 and redis.call('EXISTS', KEYS[1]) == 1 then
    redis.call('RENAME', KEYS[1], KEYS[2])
    redis.call('HSET', KEYS[2], '{BATCH_ID}', ARGV[1])
    redis.call('SET', KEYS[3], ARGV[1])
end
return redis.call('HGETALL', KEYS[2])
"""
# Deletes the batch, if it is still the one that was written.
_END_BATCH: Final = f"""
if redis.call('HGET', KEYS[1], '{BATCH_ID}') == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""


def write_counts() -> int:
    """Write what was counted since the last run. Returns the number of requests written."""
    client = store().client
    batch = _begin_batch(client)
    if not batch:
        return 0
    batch_id = batch.pop(BATCH_ID)
    written = _write(batch_id, {name: int(number) for name, number in batch.items()})
    client.eval(_END_BATCH, 1, BATCH, batch_id)
    return written


def _begin_batch(client: Redis) -> dict[str, str]:
    flat: Any = client.eval(_BEGIN_BATCH, 3, PENDING, BATCH, LAST_BATCH, new_id("batch"))
    texts = [item.decode() for item in flat]
    return dict(zip(texts[::2], texts[1::2], strict=True))


def _write(batch_id: str, counts: dict[str, int]) -> int:
    """Add the counts of one batch, unless that was done by a run that died before the end."""
    dialect = postgresql if db.engine.dialect.name == "postgresql" else sqlite
    note = dialect.insert(RequestCountBatch).values(id=batch_id, written_at=clock.now())
    noted = db.session.execute(note.on_conflict_do_nothing().returning(RequestCountBatch.id))
    if noted.first() is None:
        db.session.rollback()
        return 0
    for name, number in sorted(counts.items()):
        account_id, day = name.split(" ")
        # Out of the account's row: it may be gone, since a backup was restored.
        account = select(Account.id, literal(day), literal(number)).where(Account.id == account_id)
        row = dialect.insert(RequestCount).from_select(_COLUMNS, account)
        db.session.execute(
            row.on_conflict_do_update(
                index_elements=[RequestCount.account_id, RequestCount.day],
                set_={"requests": RequestCount.requests + row.excluded.requests},
            )
        )
    stale = clock.now() - _KEEP_BATCH_IDS
    db.session.execute(delete(RequestCountBatch).where(RequestCountBatch.written_at < stale))
    db.session.commit()
    return sum(counts.values())
