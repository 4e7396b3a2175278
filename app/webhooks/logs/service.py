"""Reading the log of a webhook, and redelivering an event."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, func

from app.audit.entries import changes_of_new, write_entry
from app.auth.principal import Principal
from app.auth.tenant import columns_of, rows_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.events.outbox import queue_deliveries
from app.http.errors import Conflict, NotFound
from app.models import Delivery, DeliveryLog, Event
from app.values.ids import is_id
from app.webhooks.locking import check_enabled, share_lock_webhook
from app.webhooks.logs.filters import filtered_entries
from app.webhooks.logs.record import COLUMNS, DETAILS, detailed_record, row_record
from app.webhooks.ordering import due_before_pending
from app.webhooks.service import read_webhook

_ONE = CompiledQuery(
    columns_of(DeliveryLog, *COLUMNS, *DETAILS).where(
        DeliveryLog.id == bindparam("log_id"), DeliveryLog.webhook_id == bindparam("webhook_id")
    )
)
# Without the webhook and an order, for which SQLite would read the whole log.
_OF_DELIVERY = CompiledQuery(
    columns_of(DeliveryLog, *COLUMNS).where(DeliveryLog.delivery_id == bindparam("delivery_id"))
)
_LAST_ID = filtered_entries(func.max(DeliveryLog.id).label("id"), frozenset({"status"}))
_LAST = CompiledQuery(
    columns_of(DeliveryLog, *COLUMNS).where(DeliveryLog.id == _LAST_ID.scalar_subquery())
)
_DELIVERY = CompiledQuery(
    columns_of(Delivery, Delivery.state, Delivery.due_at).where(
        Delivery.id == bindparam("delivery_id")
    )
)
_BODY = CompiledQuery(columns_of(Event, Event.body).where(Event.id == bindparam("event_id")))


def read_log(account_id: str, webhook_id: str, log_id: str) -> dict[str, Any]:
    """Return an entry of a webhook's log, with the request and the event. Raises NotFound."""
    row = _find_log_entry(account_id, webhook_id, log_id)
    return detailed_record(row, read_body(account_id, row.event_id))


def read_body(account_id: str, event_id: str) -> str | None:
    """Return the body of the requests about an event, or None if it was deleted."""
    event = _BODY.first(account_id=account_id, event_id=event_id)
    return None if event is None else str(event.body)


def last_failure(account_id: str, webhook_id: str) -> dict[str, Any] | None:
    """Return the last entry about a failed attempt, or None."""
    values = {"account_id": account_id, "webhook_id": webhook_id, "status": "failed"}
    rows = _LAST.tuples(**values)
    return row_record(rows[0]) if rows else None


def read_delivery(account_id: str, delivery_id: str) -> dict[str, Any]:
    """Return a delivery: its ``attempts`` in the log, the oldest first, and its ``state`` and
    ``due_at``, which are None if it was deleted with its event."""
    entries = sorted(_OF_DELIVERY.tuples(account_id=account_id, delivery_id=delivery_id))
    row = _DELIVERY.first(account_id=account_id, delivery_id=delivery_id)
    return {
        "attempts": list(map(row_record, entries)),
        "state": None if row is None else row.state,
        "due_at": None if row is None else row.due_at,
    }


def check_log(principal: Principal, webhook_id: str, log_id: str) -> None:
    """Raise NotFound if the account has no such webhook, or its log no such entry."""
    _find_log_entry(principal.account_id, webhook_id, log_id)


def redeliver(principal: Principal, webhook_id: str, log_id: str) -> dict[str, Any]:
    """Queue the event of an attempt again, before all pending deliveries of the webhook.

    Raises:
        NotFound: the account has no such webhook, or its log no such entry.
        Conflict: the webhook is disabled, or the event was deleted.
    """
    row = _find_log_entry(principal.account_id, webhook_id, log_id)
    webhook = share_lock_webhook(principal, webhook_id)
    check_enabled(webhook.enabled)
    # Lock the event, so that it is not deleted before the new delivery is committed.
    event = rows_of(principal.account_id, Event).where(Event.id == row.event_id)
    lock = event.with_only_columns(Event.id).with_for_update(read=True, key_share=True)
    if db.session.scalars(lock).one_or_none() is None:
        raise Conflict(
            "event_deleted", "event_id", "The event is no longer kept, so it cannot be sent again."
        )
    due_at = due_before_pending(principal.account_id, webhook_id)
    (delivery_id,) = queue_deliveries(
        principal.account_id, row.event_id, [webhook_id], cause="redelivery", due_at=due_at
    )
    write_entry("webhook.redelivered", webhook, changes=changes_of_new({"event": row.event_id}))
    return {
        "delivery_id": delivery_id,
        "event_id": row.event_id,
        "event_type": row.event_type,
        "status": "queued",
    }


def _find_log_entry(account_id: str, webhook_id: str, log_id: str) -> Any:
    read_webhook(account_id, webhook_id)
    is_valid = is_id("log", log_id)
    values = {"account_id": account_id, "webhook_id": webhook_id, "log_id": log_id}
    row = _ONE.first(**values) if is_valid else None
    if row is None:
        raise NotFound("This entry does not exist in the log of this webhook.")
    return row
