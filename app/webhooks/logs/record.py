"""The record of a delivery attempt."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import and_, case, or_

from app.auth.tenant import columns_of
from app.models import Delivery, DeliveryLog, Webhook
from app.security.webhook_signing import delivery_headers
from app.values.clock import parse_time
from app.values.strict_json import Fragment

# The delivery job marks deliveries as canceled some time after their webhook was disabled.
_IS_OF_DISABLED = (
    columns_of(Webhook, Webhook.id)
    .where(Webhook.id == Delivery.webhook_id, Webhook.canceled_at >= Delivery.created_at)
    .correlate(Delivery)
    .exists()
)
_RETRY_IS_CANCELED = (
    columns_of(Delivery, Delivery.id)
    .where(
        Delivery.id == DeliveryLog.delivery_id,
        Delivery.attempts == DeliveryLog.attempt,
        or_(Delivery.state == "canceled", and_(Delivery.state == "pending", _IS_OF_DISABLED)),
    )
    .correlate(DeliveryLog)
    .exists()
)
_NEXT_RETRY_AT: Final = case(
    (and_(DeliveryLog.next_retry_at.is_not(None), ~_RETRY_IS_CANCELED), DeliveryLog.next_retry_at)
).label("next_retry_at")
COLUMNS: Final = (
    DeliveryLog.id,
    DeliveryLog.event_id,
    DeliveryLog.event_type,
    DeliveryLog.status,
    DeliveryLog.response_code,
    DeliveryLog.response_time_ms,
    DeliveryLog.error,
    DeliveryLog.delivered_at,
    _NEXT_RETRY_AT,
    DeliveryLog.attempt,
    DeliveryLog.cause,
    DeliveryLog.delivery_id,
)
_NAMES: Final = tuple(column.key for column in COLUMNS)
_PHASES: Final = (
    DeliveryLog.resolve_ms,
    DeliveryLog.connect_ms,
    DeliveryLog.tls_ms,
    DeliveryLog.wait_ms,
)
DETAILS: Final = (DeliveryLog.sent_at, *_PHASES)


def row_record(row: tuple[Any, ...]) -> dict[str, Any]:
    """Return the record of an entry from a row of ``COLUMNS``, without fields that are NULL."""
    record = dict(zip(_NAMES, row, strict=True))
    if record["status"] != "success":
        record["response_time_ms"] = None
    return {name: value for name, value in record.items() if value is not None}


def detailed_record(row: Any, body: str | None) -> dict[str, Any]:
    """Return the record of an entry with its request and the duration of each phase.

    Args:
        row: named tuple of ``COLUMNS`` and ``DETAILS``.
        body: body of the event, or None if it was deleted.
    """
    timing = {phase.key: getattr(row, phase.key) for phase in _PHASES}
    timing["total_ms"] = row.response_time_ms
    record = row_record(tuple(row[: len(COLUMNS)]))
    sent_at = parse_time(row.sent_at)
    headers = delivery_headers(row.event_id, row.event_type, row.delivery_id, sent_at)
    record |= {"request": {"headers": headers}, "timing": timing}
    return record if body is None else record | {"event": Fragment(body)}
