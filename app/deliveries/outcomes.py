"""What follows from attempts: log entries, retries, and the health of the webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.deliveries import attempts
from app.deliveries.attempts import Retry
from app.deliveries.health import record_health
from app.deliveries.types import Outcome
from app.policy.deliveries import RETRY_AFTER
from app.values.ids import new_id


def record_outcomes(run: str, outcomes: Sequence[Outcome]) -> bool:
    """Write down how attempts went, in the transaction at hand. Returns whether a webhook was
    disabled for it, so that what is pending for it has to be canceled."""
    if not outcomes:
        return False
    received = [outcome.parcel for outcome in outcomes if outcome.error is None]
    retries = {
        outcome.parcel.id: retry_of(outcome) for outcome in outcomes if outcome.error is not None
    }
    attempts.write_logs([_log_row(outcome, retries.get(outcome.parcel.id)) for outcome in outcomes])
    attempts.note_received(received)
    attempts.note_failed(run, retries.values())
    return record_health(outcome for outcome in outcomes if not outcome.is_own_fault)


def retry_of(outcome: Outcome) -> Retry:
    """When to retry a failed attempt. A redelivery, a sixth attempt and a 410 are not retried."""
    parcel = outcome.parcel
    is_last = parcel.cause == "redelivery" or parcel.attempt > len(RETRY_AFTER)
    if is_last or outcome.is_gone:
        return Retry(parcel, "failed", None)
    return Retry(parcel, "pending", outcome.ended_at + RETRY_AFTER[parcel.attempt - 1])


def _log_row(outcome: Outcome, retry: Retry | None) -> dict[str, Any]:
    parcel, timing = outcome.parcel, outcome.timing
    return {
        "id": new_id("log"),
        "account_id": parcel.account_id,
        "webhook_id": parcel.webhook_id,
        "delivery_id": parcel.id,
        "event_id": parcel.event_id,
        "event_type": parcel.event_type,
        "cause": parcel.cause,
        "attempt": parcel.attempt,
        "status": "success" if outcome.error is None else "failed",
        "response_code": outcome.status,
        "response_time_ms": round(outcome.seconds * 1000),
        "error": outcome.error,
        "sent_at": outcome.sent_at,
        "delivered_at": outcome.ended_at,
        "next_retry_at": retry.due_at if retry else None,
        "resolve_ms": timing.resolve_ms,
        "connect_ms": timing.connect_ms,
        "tls_ms": timing.tls_ms,
        "wait_ms": timing.wait_ms,
    }
