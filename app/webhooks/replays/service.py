"""Replays: sending past events to a webhook again.

A request counts the events and inserts a row; a job queues their deliveries in batches. Both select
the events with the same statement. The row of the last replay is kept to show its progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, bindparam, func, select

from app.audit.entries import changes_of_new, write_entry
from app.auth.principal import Principal
from app.auth.tenant import columns_of, rows_of
from app.db import queries
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Conflict, NotFound
from app.jobs.after_commit import notify_after_commit
from app.jobs.queue import GENERAL
from app.jobs.wake_signals import WakeSignal
from app.models import Delivery, Event, Replay
from app.policy.events import EVENTS, includes_event
from app.policy.request_limits import HISTORY_ROW_BYTES
from app.usage.counters import read_counters
from app.usage.history import check_history
from app.values import clock
from app.values.clock import format_time
from app.values.ids import first_id, last_id, new_id
from app.webhooks.deliveries.cancellation import end_replays
from app.webhooks.locking import check_enabled, lock_webhook
from app.webhooks.service import read_webhook

NEW_REPLAYS: Final = WakeSignal("replays", GENERAL, job_timeout=180)  # RQ's default
_FAILED: Final = ("failed", "canceled")
_LAST: Final = CompiledQuery(
    columns_of(
        Replay,
        Replay.id,
        Replay.since,
        Replay.until,
        Replay.event_types,
        Replay.only_failed,
        Replay.created_at,
        Replay.ended_at,
        Replay.total,
        Replay.queued,
    )
    .where(Replay.webhook_id == bindparam("webhook_id"))
    .order_by(Replay.id.desc())
    .limit(1)
)
# Deliveries of the last replay that are pending, by their attempts so far.
_PENDING: Final = CompiledQuery(
    columns_of(Delivery, Delivery.attempts)
    .add_columns(func.count().label("number"))
    .where(
        Delivery.webhook_id == bindparam("webhook_id"),
        Delivery.due_at.is_not(None),
        Delivery.cause == "replay",
        Delivery.created_at >= bindparam("began"),
    )
    .group_by(Delivery.attempts)
)


class EventSelection(NamedTuple):
    """The events to send again."""

    since: datetime  # included
    until: datetime | None = None  # included; None: now
    event_types: Sequence[str] | None = None  # None: the webhook's subscriptions
    only_failed: bool = False  # without events that were delivered or are pending


def count_replay(principal: Principal, webhook_id: str, selection: EventSelection) -> int:
    """Return the number of events that a replay would send now. Raises NotFound."""
    webhook = read_webhook(principal.account_id, webhook_id)
    return _count_events(_replay_of(principal, webhook, selection))


def start_replay(
    principal: Principal, webhook_id: str, selection: EventSelection
) -> dict[str, Any]:
    """Replay events to a webhook. Returns their current number, and the replay's id.

    Raises:
        NotFound: the account has no such webhook.
        Conflict: it is disabled, or an earlier replay is not finished.
        Forbidden: the account's history has no room for the deliveries.
    """
    webhook = read_webhook(principal.account_id, webhook_id)
    check_enabled(webhook["enabled"])
    replay = _replay_of(principal, webhook, selection)
    replay.total = _count_events(replay)
    if replay.total:
        size = replay.total * 2 * HISTORY_ROW_BYTES
        check_history(
            principal.account_id, read_counters(principal.account_id).history_bytes + size
        )
        locked = lock_webhook(principal, webhook_id)
        check_enabled(locked.enabled)
        _check_no_other_replay(principal.account_id, webhook_id)
        end_replays(principal.account_id, webhook_id)
        db.session.add(replay)
        write_entry("webhook.replayed", locked, changes=changes_of_new(_audited_replay(replay)))
        notify_after_commit(NEW_REPLAYS)
    return {"replayed": replay.total, "replay_id": replay.id if replay.total else None}


def read_replay(account_id: str, webhook_id: str, replay_id: str) -> dict[str, Any]:
    """Return a replay and its progress. Raises NotFound, also if it was canceled, or another one
    has begun since."""
    replay = last_replay(account_id, webhook_id)
    if replay is None or replay["replay_id"] != replay_id:
        raise NotFound("This replay does not exist. Only the last one to a webhook is kept.")
    return replay


def last_replay(account_id: str, webhook_id: str) -> dict[str, Any] | None:
    """Return the last replay to a webhook and its progress; None if there is none, or it was
    canceled. Raises NotFound if the account has no such webhook."""
    read_webhook(account_id, webhook_id)
    row = _LAST.first(account_id=account_id, webhook_id=webhook_id)
    if row is None:
        return None
    began = clock.parse_time(row.created_at)
    pending = dict(_PENDING.tuples(account_id=account_id, webhook_id=webhook_id, began=began))
    waiting = int(pending.pop(0, 0))
    is_finished = row.ended_at is not None and not waiting
    return {
        "replay_id": row.id,
        "status": "finished" if is_finished else "running",
        "total": max(row.total, row.queued),
        "sent": max(row.queued - waiting, 0),
        "retrying": sum(map(int, pending.values())),
        "since": row.since,
        "until": row.until,
        "event_types": row.event_types,
        "only_failed": bool(row.only_failed),
        "created_at": row.created_at,
    }


def _replay_of(principal: Principal, webhook: dict[str, Any], events: EventSelection) -> Replay:
    moment = clock.now()
    return Replay(
        id=new_id("replay"),
        account_id=principal.account_id,
        webhook_id=webhook["id"],
        since=clock.to_millisecond(events.since),
        until=clock.to_millisecond(events.until or moment),
        event_types=_expand_types(events.event_types or webhook["events"]),
        only_failed=events.only_failed,
        last_event_id="",
        next_at=moment,
        created_at=moment,
        queued=0,
    )


def _check_no_other_replay(account_id: str, webhook_id: str) -> None:
    others = rows_of(account_id, Replay).where(
        Replay.webhook_id == webhook_id, Replay.ended_at.is_(None)
    )
    other = db.session.scalars(others.limit(1)).first()
    if other is not None:
        message = "A replay to this webhook is still running. Wait until it has finished."
        raise Conflict("still_running", "replay_id", message, id=other.id)


def select_events(replay: Replay) -> Select[Any]:
    """Return the statement that selects the ids of a replay's events that are not queued yet,
    unordered."""
    matching = rows_of(replay.account_id, Event).where(
        Event.type.in_(replay.event_types),
        Event.id > max(first_id("event", replay.since), replay.last_event_id),
        Event.id <= last_id("event", replay.until),
    )
    if replay.only_failed:
        deliveries = rows_of(replay.account_id, Delivery).where(
            Delivery.event_id == Event.id, Delivery.webhook_id == replay.webhook_id
        )
        others = deliveries.where(Delivery.state.not_in(_FAILED)).exists()
        matching = matching.where(deliveries.where(Delivery.state.in_(_FAILED)).exists(), ~others)
    return matching.with_only_columns(Event.id)


def _count_events(replay: Replay) -> int:
    """Return the number of events to send. They are counted before the transaction of the change,
    which would block writers on SQLite."""
    queries.release_connection()  # else a thread could wait for its own connection
    with queries.reading_connection() as connection:
        return int(
            connection.execute(
                select(func.count()).select_from(select_events(replay).subquery())
            ).scalar_one()
        )


def _expand_types(types: Sequence[str]) -> list[str]:
    """Return the types without ``*``, in the order of the catalogue."""
    return [name for name in EVENTS if includes_event(types, name)]


def _audited_replay(replay: Replay) -> dict[str, Any]:
    return {
        "since": format_time(replay.since),
        "until": format_time(replay.until),
        "event_types": replay.event_types,
        "only_failed": replay.only_failed,
        "total": replay.total,
    }
