"""The job that queues the deliveries of replays, those for some seconds at a time.

Their due times are spread, so that new events are sent between them. The running replays of an
account share one pace. Nothing is queued while the receiver is behind, or the account's history has
no room.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import Select, exists, func, select

from app.auth.tenant import rows_of, select_of_all_accounts
from app.db.extensions import db
from app.db.queries import has_rows
from app.db.transactions import transaction
from app.events.outbox import queue_replay
from app.jobs.pauses import pause_after
from app.jobs.registry import Job
from app.jobs.valkey import valkey
from app.models import Delivery, Event, Replay, Webhook
from app.policy.deliveries import REPLAYED_AT_ONCE, REPLAYED_PER_SECOND
from app.policy.request_limits import HISTORY_ROW_BYTES
from app.usage.counters import read_counters
from app.usage.history import history_limit
from app.values import clock
from app.webhooks.replays.service import NEW_REPLAYS, select_events

RUN_SECONDS: Final = 5.0  # mails and all other jobs wait for it
_LAG: Final = timedelta(seconds=5)
_INTERVAL: Final = timedelta(seconds=1) / REPLAYED_PER_SECOND
AHEAD: Final = timedelta(seconds=REPLAYED_AT_ONCE)
CHUNK: Final = REPLAYED_PER_SECOND * REPLAYED_AT_ONCE


def queue_replays() -> int:
    """Queue the next events of replays, until ``RUN_SECONDS`` are over or the worker is asked to
    stop. Returns the number of events."""
    valkey().attempt(NEW_REPLAYS.begin)
    end, queued = time.monotonic() + RUN_SECONDS, 0
    for replay_id in due_replays():
        began = time.monotonic()
        with transaction():
            queued += queue_next(replay_id)
        if pause_after(began) or time.monotonic() > end:
            break
    return queued


def due_replays() -> Sequence[str]:
    """Return the ids of the replays to continue before the next run of the job. Accounts take
    turns, and the replay that has waited longest comes first."""
    turn = func.row_number().over(partition_by=Replay.account_id, order_by=Replay.next_at)
    return db.session.scalars(_running_replays().order_by(turn, Replay.next_at)).all()


def _running_replays() -> Select[str]:
    soon = clock.now() + AHEAD
    return select_of_all_accounts(Replay.id).where(
        Replay.next_at <= soon, Replay.ended_at.is_(None)
    )


def queue_next(replay_id: str) -> int:
    """Queue the next events of a replay in the current transaction, and end it after the last.
    Returns the number of events; 0 if another worker does it."""
    # Lock the webhook first, in the same order as when it is disabled.
    webhook_id = select(Replay.webhook_id).where(Replay.id == replay_id).scalar_subquery()
    owner = select(Webhook).where(Webhook.id == webhook_id)
    webhook = db.session.scalars(owner.with_for_update(read=True, key_share=True)).one_or_none()
    own = select(Replay).where(Replay.id == replay_id, Replay.ended_at.is_(None))
    replay = db.session.scalars(own.with_for_update(skip_locked=True)).one_or_none()
    moment = clock.now()
    if webhook is None or replay is None or replay.next_at > moment + AHEAD:
        return 0
    if not webhook.enabled:
        db.session.delete(replay)
        return 0
    running = _count_running(replay.account_id)
    interval, limit = _INTERVAL * running, max(CHUNK // running, 1)
    if _is_behind(replay.webhook_id) or not _has_room(replay, limit):
        return 0
    ids = db.session.scalars(select_events(replay).order_by(Event.id).limit(limit)).all()
    begin = max(moment, replay.next_at)
    times = [begin + number * interval for number in range(len(ids))]
    queue_replay(replay.account_id, replay.webhook_id, zip(ids, times, strict=True))
    replay.queued += len(ids)
    if len(ids) < limit:
        replay.ended_at = moment
    else:
        replay.last_event_id = ids[-1]
        replay.next_at = times[-1] + interval
    return len(ids)


def _count_running(account_id: str) -> int:
    webhooks = rows_of(account_id, Webhook).with_only_columns(Webhook.id)  # to use their index
    own = rows_of(account_id, Replay).where(
        Replay.webhook_id.in_(webhooks), Replay.ended_at.is_(None)
    )
    return db.session.scalar(own.with_only_columns(func.count())) or 1


def _has_room(replay: Replay, number: int) -> bool:
    limit = history_limit()
    size = min(number, max(replay.total - replay.queued, 0)) * 2 * HISTORY_ROW_BYTES
    return limit is None or read_counters(replay.account_id).history_bytes + size <= limit


def _is_behind(webhook_id: str) -> bool:
    late = exists().where(Delivery.webhook_id == webhook_id, Delivery.due_at <= clock.now() - _LAG)
    return bool(db.session.scalar(select(late)))


JOBS: Final = (
    Job(
        queue_replays,
        every_seconds=REPLAYED_AT_ONCE,
        signal=NEW_REPLAYS,
        is_due=lambda: has_rows(_running_replays()),
    ),
)
