"""Events, written where the change is: in the caller's transaction.

Nothing is sent from here. A change, its event and a delivery for each webhook that is subscribed
to it land together or not at all, so whoever delivers later (``app.webhooks``) needs the database
and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import Table, bindparam, select

from app.auth.principal import Principal
from app.db.extensions import db
from app.jobs.after_commit import notify_after_commit
from app.jobs.queue import DELIVERIES
from app.jobs.wake_signals import WakeSignal
from app.models import Delivery, Event, Webhook
from app.policy.deliveries import RUN_SECONDS
from app.policy.events import ALL_EVENTS, EVENTS, TEST_EVENT, TEST_MESSAGE
from app.values import clock
from app.values.ids import new_id
from app.values.strict_json import dumps

# The job that it starts ends before its timeout by itself, with what it still holds.
NEW_DELIVERIES: Final = WakeSignal("deliveries", DELIVERIES, job_timeout=int(RUN_SECONDS) + 30)

_EVENTS = cast("Table", Event.__table__)
_DELIVERIES = cast("Table", Delivery.__table__)
_SUBSCRIPTIONS = (
    select(Webhook.id, Webhook.events)
    .where(
        Webhook.account_id == bindparam("account_id"),
        Webhook.enabled,
        Webhook.deleted_at.is_(None),
    )
    .with_for_update(read=True, key_share=True)
)


class Actor(NamedTuple):
    """In which account something happens, and who does it: for a key, the member who made it."""

    account_id: str
    account_name: str
    actor_id: str | None = None
    actor_email: str | None = None

    @classmethod
    def of(cls, principal: Principal) -> Actor:
        return cls(
            principal.account_id,
            principal.account_name,
            principal.user_id,
            principal.user_email,
        )


def emit(
    event_type: str,
    subject: Mapping[str, Any],
    origin: Actor,
    *,
    subject_id: str | None = None,
    **extra: Any,
) -> str:
    """Write an event. Returns its id.

    Args:
        event_type: one of ``app.policy.events.EVENTS``.
        subject: the record of what it happened to, as it is now, with its ``id``; the catalogue
            picks the fields of the event from it.
        subject_id: an id of ours, where the subject's own is somebody else's, or there is none.
        extra: what the catalogue asks for besides, such as ``changes``.

    Raises:
        KeyError: the type is unknown, or the subject lacks a field of the catalogue.
        ValueError: ``extra`` or the actor is not what the catalogue asks for.
    """
    kind = EVENTS[event_type]
    if set(extra) != set(kind.extra) or (kind.actor is not None and origin.actor_id is None):
        raise ValueError(f"{event_type} needs {kind.extra} and actor {kind.actor}")
    data = {name: subject[name] for name in kind.fields} | extra
    if kind.actor is not None:
        data[kind.actor] = {"id": origin.actor_id, "email": origin.actor_email}
    event_id = _write(event_type, data, origin, subject["id"] if subject_id is None else subject_id)
    queue_deliveries(origin.account_id, event_id, _subscribed(origin.account_id, event_type))
    return event_id


def emit_test(webhook_id: str, origin: Actor, due_at: datetime) -> str:
    """Write an event that tells nothing, for one webhook alone. Returns its id."""
    data = {"webhook_id": webhook_id, "message": TEST_MESSAGE}
    event_id = _write(TEST_EVENT, data, origin, webhook_id)
    queue_deliveries(origin.account_id, event_id, [webhook_id], cause="test", due_at=due_at)
    return event_id


def queue_deliveries(
    account_id: str,
    event_id: str,
    webhook_ids: Sequence[str],
    *,
    cause: str = "event",
    due_at: datetime | None = None,
) -> list[str]:
    """Have an event sent to webhooks, once the transaction at hand is committed.

    Args:
        cause: ``event``, ``test`` or ``redelivery``.
        due_at: when; None: at once.

    Returns:
        the ids of the deliveries.
    """
    due_at = due_at or clock.now()
    return _queue(account_id, [(event_id, each, due_at) for each in webhook_ids], cause)


def queue_replay(account_id: str, webhook_id: str, events: Iterable[tuple[str, datetime]]) -> None:
    """Have events of the past sent to a webhook again, each when its time has come."""
    _queue(account_id, [(event_id, webhook_id, due_at) for event_id, due_at in events], "replay")


def _queue(account_id: str, sent: Sequence[tuple[str, str, datetime]], cause: str) -> list[str]:
    """Deliveries of events to webhooks at moments."""
    if not sent:
        return []
    moment = clock.now()
    rows = [
        {
            "id": new_id("delivery"),
            "account_id": account_id,
            "webhook_id": webhook_id,
            "event_id": event_id,
            "cause": cause,
            "state": "pending",
            "attempts": 0,
            "due_at": due_at,
            "created_at": moment,
        }
        for event_id, webhook_id, due_at in sent
    ]
    db.session.connection().execute(_DELIVERIES.insert(), rows)
    notify_after_commit(NEW_DELIVERIES)
    return [str(row["id"]) for row in rows]


def _write(event_type: str, data: Mapping[str, Any], origin: Actor, subject_id: str) -> str:
    event_id, moment = new_id("event"), clock.now()
    body = {
        "id": event_id,
        "type": event_type,
        "created_at": clock.format_time(moment),
        "data": data,
        "account": {"id": origin.account_id, "name": origin.account_name},
    }
    row = {
        "id": event_id,
        "account_id": origin.account_id,
        "type": event_type,
        "subject_id": subject_id,
        "body": dumps(body).decode(),
        "created_at": moment,
    }
    db.session.connection().execute(_EVENTS.insert(), row)
    return event_id


def _subscribed(account_id: str, event_type: str) -> list[str]:
    """The webhooks that an event of the account goes to.

    They are locked, so that none of them is taken away before the deliveries are there; other
    changes of them do not wait, and neither do other events.
    """
    rows = db.session.connection().execute(_SUBSCRIPTIONS, {"account_id": account_id})
    return [row.id for row in rows if not {ALL_EVENTS, event_type}.isdisjoint(row.events)]
