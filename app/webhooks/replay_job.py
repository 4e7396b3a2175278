"""Queueing what a replay sends: the events of some seconds at a time, one after the other.

Their times lie apart, so that what happens meanwhile is sent between them. While the receiver is
behind, nothing is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import exists, select

from app.db.extensions import db
from app.models import Delivery, Event, Replay, Webhook
from app.outbox import queue_replay
from app.policy.deliveries import REPLAYED_AT_ONCE, REPLAYED_PER_SECOND
from app.values import clock
from app.webhooks.replays import select_events

_BEHIND: Final = timedelta(seconds=5)
_APART: Final = timedelta(seconds=1) / REPLAYED_PER_SECOND
_AHEAD: Final = timedelta(seconds=REPLAYED_AT_ONCE)
_CHUNK: Final = REPLAYED_PER_SECOND * REPLAYED_AT_ONCE


def due_replays() -> Sequence[str]:
    """The ids of the replays that are to go on before this is asked again, of all accounts."""
    soon = clock.now() + _AHEAD
    return db.session.scalars(select(Replay.id).where(Replay.next_at <= soon)).all()


def queue_next(replay_id: str) -> int:
    """Queue the next events of a replay, in the transaction at hand; after the last ones it is
    gone. Returns how many they were; 0 when another worker is at it."""
    # The webhook first, as whoever disables it does.
    webhook_id = select(Replay.webhook_id).where(Replay.id == replay_id).scalar_subquery()
    held = select(Webhook).where(Webhook.id == webhook_id)
    webhook = db.session.scalars(held.with_for_update(read=True, key_share=True)).one_or_none()
    mine = select(Replay).where(Replay.id == replay_id).with_for_update(skip_locked=True)
    replay = db.session.scalars(mine).one_or_none()
    moment = clock.now()
    if webhook is None or replay is None or replay.next_at > moment + _AHEAD:
        return 0
    if not webhook.enabled:
        db.session.delete(replay)
        return 0
    if _is_behind(replay.webhook_id):
        return 0
    chosen = select_events(replay).add_columns(Event.created_at)
    is_next = (Event.created_at > replay.since) | (Event.id > replay.last_event_id)
    after = chosen.where(is_next)  # those before ``since`` are left out already
    events = db.session.execute(after.order_by(Event.created_at, Event.id).limit(_CHUNK)).all()
    begin = max(moment, replay.next_at)
    times = [begin + number * _APART for number in range(len(events))]
    ids = [event.id for event in events]
    queue_replay(replay.account_id, replay.webhook_id, zip(ids, times, strict=True))
    if len(events) < _CHUNK:
        db.session.delete(replay)
    else:
        replay.since, replay.last_event_id = events[-1].created_at, ids[-1]
        replay.next_at = times[-1] + _APART
    return len(events)


def _is_behind(webhook_id: str) -> bool:
    late = exists().where(
        Delivery.webhook_id == webhook_id, Delivery.due_at <= clock.now() - _BEHIND
    )
    return bool(db.session.scalar(select(late)))
