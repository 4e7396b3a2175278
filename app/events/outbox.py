"""Writing events in the transaction of the change.

A change, its event and a delivery for each subscribed webhook are committed together or not at all.
Nothing is sent from here; that is up to the delivery job (``app/webhooks/deliveries``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select

from app.auth.principal import Principal
from app.db.transaction_notes import open_transaction_notes
from app.db.transactions import CompiledChange, insert_rows
from app.jobs.after_commit import notify_after_commit
from app.jobs.queue import DELIVERIES
from app.jobs.wake_signals import WakeSignal
from app.maintenance.history_bytes import note_history
from app.models import Delivery, Event, Webhook
from app.policy.deliveries import RUN_SECONDS
from app.policy.events import EVENTS, TEST_EVENT, TEST_MESSAGE, includes_event
from app.values import clock
from app.values.ids import new_id, new_id_at
from app.values.strict_json import dumps

# The job ends by itself before this timeout.
NEW_DELIVERIES: Final = WakeSignal("deliveries", DELIVERIES, job_timeout=int(RUN_SECONDS) + 30)

_SUBSCRIPTIONS: Final = CompiledChange(
    select(Webhook.id, Webhook.events)
    .where(
        Webhook.account_id == bindparam("account_id"),
        Webhook.enabled,
        Webhook.deleted_at.is_(None),
    )
    .with_for_update(read=True, key_share=True)
)


class EventActor(NamedTuple):
    """An account, and the person who does something in it. For a key, that is its creator; in the
    audit log, it is the key (``app.audit.origin.Actor``)."""

    account_id: str
    account_name: str
    actor_id: str | None = None
    actor_email: str | None = None

    @classmethod
    def of(cls, principal: Principal) -> EventActor:
        return cls(
            principal.account_id,
            principal.account_name,
            principal.user_id,
            principal.user_email,
        )


@dataclass(frozen=True)
class _Subscribed:
    """The key of a note with the webhooks of an account."""

    account_id: str


def emit_event(
    event_type: str,
    subject: Mapping[str, Any],
    actor: EventActor,
    *,
    subject_id: str | None = None,
    **extra: Any,
) -> None:
    """Write an event.

    Args:
        event_type: one of ``app.policy.events.EVENTS``.
        subject: the current record, with its ``id``, from which the catalogue selects fields.
        subject_id: id to find the event by, if the subject has none or one of another system.
        extra: other values that the catalogue requires, such as ``changes``.

    Raises:
        KeyError: the type is unknown, or the subject lacks a field of the catalogue.
        ValueError: ``extra`` or the actor does not match the catalogue.
    """
    kind = EVENTS[event_type]
    if set(extra) != set(kind.extra) or (kind.actor is not None and actor.actor_id is None):
        raise ValueError(f"{event_type} needs {kind.extra} and actor {kind.actor}")
    data = {name: subject[name] for name in kind.fields} | extra
    if kind.actor is not None:
        data[kind.actor] = {"id": actor.actor_id, "email": actor.actor_email}
    subject_id = subject["id"] if subject_id is None else subject_id
    (event_id,) = _write_events(event_type, [(subject_id, data)], actor)
    (webhook_ids,) = webhooks_for_events(actor.account_id, event_type)
    queue_deliveries(actor.account_id, event_id, webhook_ids)


def emit_many(
    event_type: str,
    subjects: Iterable[tuple[str, Mapping[str, Any]]],
    actor: EventActor,
    webhook_ids: Sequence[str],
) -> None:
    """Write an event about each subject for these webhooks, with one statement for the events and
    one for the deliveries.

    Args:
        event_type: one of ``app.policy.events.EVENTS``, without an actor or extra values.
        subjects: (id to find the event by, record).
        webhook_ids: ids that ``webhooks_for_events`` returned in this transaction.
    """
    kind = EVENTS[event_type]
    records = [(key, {name: record[name] for name in kind.fields}) for key, record in subjects]
    due_at = clock.now()
    due = [
        (event_id, webhook_id, due_at)
        for event_id in _write_events(event_type, records, actor)
        for webhook_id in webhook_ids
    ]
    _queue_deliveries(actor.account_id, due, "event")


def webhooks_for_events(account_id: str, *event_types: str) -> list[list[str]]:
    """Return the ids of the webhooks that are subscribed to each type.

    The webhooks are read once in a transaction, and locked against deletion until its end. Neither
    other changes of them nor other events wait for that.
    """
    open_notes, key = open_transaction_notes(), _Subscribed(account_id)
    if (rows := open_notes.get(key)) is None:
        rows = open_notes[key] = _SUBSCRIPTIONS.all({"account_id": account_id})
    return [[row.id for row in rows if includes_event(row.events, name)] for name in event_types]


def emit_test(webhook_id: str, actor: EventActor, due_at: datetime) -> str:
    """Write a test event for one webhook. Returns its id."""
    data = {"webhook_id": webhook_id, "message": TEST_MESSAGE}
    (event_id,) = _write_events(TEST_EVENT, [(webhook_id, data)], actor)
    queue_deliveries(actor.account_id, event_id, [webhook_id], cause="test", due_at=due_at)
    return event_id


def queue_deliveries(
    account_id: str,
    event_id: str,
    webhook_ids: Sequence[str],
    *,
    cause: str = "event",
    due_at: datetime | None = None,
) -> list[str]:
    """Queue an event for webhooks, to be sent once the current transaction is committed.

    Args:
        cause: ``event``, ``test`` or ``redelivery``.
        due_at: now by default.

    Returns:
        The ids of the deliveries.
    """
    due_at = due_at or clock.now()
    return _queue_deliveries(
        account_id, [(event_id, webhook, due_at) for webhook in webhook_ids], cause
    )


def queue_replay(account_id: str, webhook_id: str, events: Iterable[tuple[str, datetime]]) -> None:
    """Queue past events for a webhook: (event id, due time)."""
    _queue_deliveries(
        account_id, [(event_id, webhook_id, due_at) for event_id, due_at in events], "replay"
    )


def _queue_deliveries(
    account_id: str, due: Sequence[tuple[str, str, datetime]], cause: str
) -> list[str]:
    """Insert deliveries of (event id, webhook id, due time). Returns their ids."""
    if not due:
        return []
    now = clock.now()
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
            "created_at": now,
        }
        for event_id, webhook_id, due_at in due
    ]
    insert_rows(Delivery, rows)
    note_history(account_id, 2 * len(rows))
    notify_after_commit(NEW_DELIVERIES)
    return [str(row["id"]) for row in rows]


def _write_events(
    event_type: str, records: Iterable[tuple[str, Mapping[str, Any]]], actor: EventActor
) -> list[str]:
    """Insert events of (subject id, data). Returns their ids."""
    now = clock.now()
    rows = [_event_row(event_type, data, actor, key, now) for key, data in records]
    insert_rows(Event, rows)
    note_history(actor.account_id, len(rows), sum(len(row["body"].encode()) for row in rows))
    return [str(row["id"]) for row in rows]


def _event_row(
    event_type: str,
    data: Mapping[str, Any],
    actor: EventActor,
    subject_id: str,
    created_at: datetime,
) -> dict[str, Any]:
    event_id = new_id_at("event", created_at)  # lists by time filter by id
    body = {
        "id": event_id,
        "type": event_type,
        "created_at": clock.format_time(created_at),
        "data": data,
        "account": {"id": actor.account_id, "name": actor.account_name},
    }
    return {
        "id": event_id,
        "account_id": actor.account_id,
        "type": event_type,
        "subject_id": subject_id,
        "body": dumps(body).decode(),
    }
