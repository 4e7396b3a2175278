"""The record of a webhook, without its secret."""

from __future__ import annotations

from typing import Any, Final

from app.http.errors import NotFound
from app.models import Webhook
from app.values.clock import format_value

COLUMNS: Final = (
    Webhook.id,
    Webhook.url,
    Webhook.description,
    Webhook.events,
    Webhook.enabled,
    Webhook.disabled_reason,
    Webhook.last_success_at,
    Webhook.consecutive_failures,
    Webhook.given_up_at,
    Webhook.created_at,
    Webhook.updated_at,
)
STATUSES: Final = ("healthy", "failing", "failed", "disabled")


def row_record(row: tuple[Any, ...]) -> dict[str, Any]:
    """Return the record of a webhook from a row of ``COLUMNS``."""
    (id_, url, description, events, enabled, reason,
     success_at, failures, given_up_at, created, updated) = row  # fmt: skip
    return {
        "id": id_,
        "url": url,
        "description": description,
        "events": events,
        "enabled": enabled,
        "status": _webhook_status(enabled, failures, given_up_at),
        "disabled_reason": reason,
        "last_success_at": success_at,
        "consecutive_failures": failures,
        "created_at": created,
        "updated_at": updated,
    }


def webhook_record(webhook: Webhook) -> dict[str, Any]:
    """Return the record of a webhook."""
    return row_record(tuple(format_value(getattr(webhook, column.key)) for column in COLUMNS))


def not_found() -> NotFound:
    """Return the error for an id that no webhook of the account has."""
    return NotFound("This webhook does not exist.")


def _webhook_status(enabled: bool, failures: int, given_up_at: Any) -> str:
    if not enabled:
        return "disabled"
    if given_up_at is not None:
        return "failed"
    return "failing" if failures else "healthy"
