"""Saving the outcomes of attempts in batches: log entries, retries, and the health of webhooks.

Statements are about all accounts, as this is the service's own work. Nothing here commits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import Table, bindparam, select, update

from app.auth.tenant import ALL_ACCOUNTS
from app.db.extensions import db
from app.db.search_index import is_among_ids
from app.db.transactions import CompiledChange, insert_rows
from app.models import Delivery, DeliveryLog
from app.policy.deliveries import RETRY_AFTER
from app.values.ids import new_id
from app.webhooks.deliveries.attempt_counts import add_attempt_counts
from app.webhooks.deliveries.health import update_health
from app.webhooks.deliveries.types import ClaimedDelivery, Outcome

_DELIVERIES = cast("Table", Delivery.__table__)
_FAILED: Final = CompiledChange(
    update(_DELIVERIES)
    .prefix_with(ALL_ACCOUNTS)
    .where(_DELIVERIES.c.id == bindparam("delivery"), _DELIVERIES.c.claim == bindparam("run"))
    .values(
        state=bindparam("new_state"),
        attempts=bindparam("attempt"),
        due_at=bindparam("due"),
        claim=None,
    )
)
# Waits for a pending commit, as when PostgreSQL waits for a standby.
_ATTEMPTS = (
    select(_DELIVERIES.c.id, _DELIVERIES.c.attempts)
    .where(_DELIVERIES.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(_DELIVERIES.c.id)
    .with_for_update()
)


class Retry(NamedTuple):
    """The new state of a delivery after a failed attempt."""

    delivery: ClaimedDelivery
    state: str
    due_at: datetime | None


def save_outcomes(run_id: str, outcomes: Sequence[Outcome]) -> bool:
    """Save outcomes in the current transaction. Returns True if a webhook was disabled, so that its
    pending deliveries have to be canceled."""
    if not outcomes:
        return False
    failures = (outcome for outcome in outcomes if outcome.error is not None)
    retries = {outcome.delivery.id: retry_of(outcome) for outcome in failures}
    write_logs([_log_row(outcome, retries.get(outcome.delivery.id)) for outcome in outcomes])
    mark_succeeded(outcome.delivery for outcome in outcomes if outcome.error is None)
    mark_failed(run_id, retries.values())
    was_disabled = update_health(row for row in outcomes if not row.is_internal_error)
    add_attempt_counts(outcomes)
    return was_disabled


def unsaved_outcomes(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes that are not saved, after a commit whose result is unknown."""
    ids = [outcome.delivery.id for outcome in outcomes]
    rows = db.session.connection().execute(_ATTEMPTS, {"ids": ids})
    attempts = {row.id: row.attempts for row in rows}
    return [
        outcome
        for outcome in outcomes
        if attempts.get(outcome.delivery.id, 0) < outcome.delivery.attempt
    ]


def retry_of(outcome: Outcome) -> Retry:
    """Return the retry after a failed attempt. A test, a redelivery, a sixth attempt and a 410 are
    not retried."""
    delivery = outcome.delivery
    if outcome.is_last:
        return Retry(delivery, "failed", None)
    return Retry(delivery, "pending", outcome.ended_at + RETRY_AFTER[delivery.attempt - 1])


def mark_succeeded(deliveries: Iterable[ClaimedDelivery]) -> None:
    """Mark deliveries as succeeded, even if another run has claimed them since."""
    if ids := [delivery.id for delivery in deliveries]:
        _SUCCEEDED.run({"ids": ids})


def mark_failed(run_id: str, retries: Iterable[Retry]) -> None:
    """Mark deliveries as failed or pending, unless another run has claimed them since."""
    rows = [
        {
            "delivery": delivery.id,
            "run": run_id,
            "new_state": state,
            "attempt": delivery.attempt,
            "due": due_at,
        }
        for delivery, state, due_at in retries
    ]
    if rows:
        _FAILED.run_many(rows)


def write_logs(rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert a log entry for each attempt."""
    if rows:
        insert_rows(DeliveryLog, rows)


_SUCCEEDED: Final = CompiledChange(
    update(_DELIVERIES)
    .prefix_with(ALL_ACCOUNTS)
    .where(is_among_ids(_DELIVERIES.c.id))
    .values(state="succeeded", attempts=_DELIVERIES.c.attempts + 1, due_at=None, claim=None)
)


def _log_row(outcome: Outcome, retry: Retry | None) -> dict[str, Any]:
    delivery = outcome.delivery
    return {
        "id": new_id("log"),
        "account_id": delivery.account_id,
        "webhook_id": delivery.webhook_id,
        "delivery_id": delivery.id,
        "event_id": delivery.event_id,
        "event_type": delivery.event_type,
        "cause": delivery.cause,
        "attempt": delivery.attempt,
        "status": "success" if outcome.error is None else "failed",
        "response_code": outcome.status,
        "response_time_ms": round(outcome.seconds * 1000),
        "error": outcome.error,
        "sent_at": outcome.sent_at,
        "delivered_at": outcome.ended_at,
        "next_retry_at": retry.due_at if retry else None,
        **outcome.timing._asdict(),
    }
