"""Replays: past events, sent to a webhook again.

A request counts the events and inserts a row; a job queues their deliveries, some at a time. Both
select them with the same statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, func, select

from app.auth.principal import Principal
from app.auth.tenant import rows_of
from app.db import queries
from app.db.extensions import db
from app.http.errors import Conflict
from app.jobs.after_commit import enqueue_after_commit
from app.models import Delivery, Event, Replay
from app.policy.events import ALL_EVENTS, EVENTS
from app.values import clock
from app.values.ids import new_id
from app.webhooks.locking import check_enabled, lock_webhook
from app.webhooks.service import read_webhook

_QUEUE: Final = "app.webhooks.jobs.queue_replays"
_FAILED: Final = ("failed", "canceled")
_IF_DISABLED: Final = "nothing can be sent again"


def start_replay(
    principal: Principal,
    webhook_id: str,
    *,
    since: datetime,
    until: datetime | None = None,
    event_types: Sequence[str] | None = None,
    only_failed: bool = False,
) -> dict[str, Any]:
    """Replay events to a webhook. Returns how many there are now, and the replay's id.

    Args:
        since: the first moment; both ends are included.
        until: None: up to now.
        event_types: None: those that the webhook is subscribed to.
        only_failed: whether to leave out what was delivered, and what is pending.

    Raises:
        NotFound: the account has no such webhook.
        Conflict: it is disabled, or an earlier replay is not finished.
    """
    webhook = read_webhook(principal.account_id, webhook_id)
    check_enabled(webhook["enabled"], _IF_DISABLED)
    moment = clock.now()
    replay = Replay(
        id=new_id("replay"),
        account_id=principal.account_id,
        webhook_id=webhook_id,
        since=_to_millisecond(since),
        until=_to_millisecond(until or moment),
        event_types=_expand(event_types or webhook["events"]),
        only_failed=only_failed,
        last_event_id="",
        next_at=moment,
        created_at=moment,
    )
    number = _count(replay)
    if number:
        check_enabled(lock_webhook(principal, webhook_id).enabled, _IF_DISABLED)
        _check_no_other(principal.account_id, webhook_id)
        db.session.add(replay)
        enqueue_after_commit(_QUEUE)
    return {"replayed": number, "replay_id": replay.id if number else None}


def _check_no_other(account_id: str, webhook_id: str) -> None:
    others = rows_of(account_id, Replay).where(Replay.webhook_id == webhook_id)
    if db.session.scalars(others.limit(1)).first() is not None:
        raise Conflict("A replay to this webhook is still running. Wait until it has finished.")


def select_events(replay: Replay) -> Select[Any]:
    """The ids of the events that a replay sends, in no order."""
    matching = rows_of(replay.account_id, Event).where(
        Event.type.in_(replay.event_types),
        Event.created_at >= replay.since,
        Event.created_at <= replay.until,
    )
    if replay.only_failed:
        deliveries = rows_of(replay.account_id, Delivery).where(
            Delivery.event_id == Event.id, Delivery.webhook_id == replay.webhook_id
        )
        others = deliveries.where(Delivery.state.not_in(_FAILED)).exists()
        matching = matching.where(deliveries.where(Delivery.state.in_(_FAILED)).exists(), ~others)
    return matching.with_only_columns(Event.id)


def _count(replay: Replay) -> int:
    """How many events there are to send. Counted before the transaction of the change, which would
    keep others from writing to SQLite meanwhile."""
    queries.release()  # or a thread could wait for its own connection
    with queries.connect() as connection:
        return int(
            connection.execute(
                select(func.count()).select_from(select_events(replay).subquery())
            ).scalar_one()
        )


def _expand(types: Sequence[str]) -> list[str]:
    """The types without ``*``, in the order of the catalogue."""
    return [name for name in EVENTS if ALL_EVENTS in types or name in types]


def _to_millisecond(moment: datetime) -> datetime:
    return clock.parse_time(clock.format_time(moment))
