"""Entries of the audit log about webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.audit.entries import Changes, Target, changed, created, record
from app.models import Replay, Webhook
from app.security.masking import masked_url
from app.values.clock import format_time

_FIELDS: Final = ("url", "events", "description", "enabled")


def record_entry(action: str, webhook: Webhook, changes: Changes | None = None) -> None:
    """Record an action on a webhook."""
    target = Target("webhook", webhook.id, masked_url(webhook.url))
    record(action, target, account_id=webhook.account_id, changes=_masked(changes))


def record_created(webhook: Webhook, made: Mapping[str, Any]) -> None:
    """Record that a webhook was created, and so its secret shown.

    Args:
        made: its record.
    """
    record_entry("webhook.created", webhook, created(made, *_FIELDS))


def record_update(webhook: Webhook, former: Mapping[str, Any], present: Mapping[str, Any]) -> None:
    """Record how a webhook changed, given by its records."""
    record_entry("webhook.updated", webhook, changed(former, present, *_FIELDS))


def record_replay(webhook: Webhook, replay: Replay) -> None:
    """Record which events are sent again."""
    values = {
        "since": format_time(replay.since),
        "until": format_time(replay.until),
        "event_types": replay.event_types,
        "only_failed": replay.only_failed,
        "total": replay.total,
    }
    record_entry("webhook.replayed", webhook, created(values))


def _masked(changes: Changes | None) -> Changes | None:
    """Without secrets in URLs. If nothing else changed, ``from`` and ``to`` are the same."""
    if not changes or "url" not in changes:
        return changes
    urls = changes["url"]
    return {**changes, "url": {name: url and masked_url(url) for name, url in urls.items()}}
