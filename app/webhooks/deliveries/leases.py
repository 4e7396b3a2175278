"""Finding due deliveries, and leasing them to one worker.

A claim marks a delivery with the run and moves its ``due_at``: other workers skip it, and the
deliveries of a dead worker are due again once their leases expire. Statements are about all
accounts, as this is the service's own work. Nothing here commits; each function is one short
transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnClause,
    Integer,
    Table,
    Text,
    bindparam,
    column,
    text,
    update,
)

from app.auth.tenant import ALL_ACCOUNTS
from app.db.column_types import Timestamp
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.db.transactions import CompiledChange
from app.models import Delivery
from app.policy.deliveries import LEASE
from app.webhooks.deliveries.types import ClaimedDelivery, PendingWebhook

_DELIVERIES = cast("Table", Delivery.__table__)
WEBHOOKS_AT_ONCE: Final = 200  # webhooks of one scan

# Steps from webhook to webhook along the index of pending deliveries, however many each has.
_PENDING_WEBHOOKS: Final = CompiledQuery(
    text(
        """
    WITH RECURSIVE pending(webhook_id, step) AS (
        SELECT (SELECT webhook_id FROM deliveries
                WHERE due_at IS NOT NULL AND webhook_id > :after
                ORDER BY webhook_id LIMIT 1), 1
        UNION ALL
        SELECT (SELECT webhook_id FROM deliveries
                WHERE due_at IS NOT NULL AND webhook_id > pending.webhook_id
                ORDER BY webhook_id LIMIT 1), step + 1
        FROM pending WHERE webhook_id IS NOT NULL AND step < :limit
    )
    SELECT /* of all accounts */ webhooks.id AS webhook_id, account_id, url, enabled, sealed_secret,
        sealed_former_secret, former_secret_until, last_success_at, consecutive_failures,
        canceled_at,
        (SELECT due_at FROM deliveries WHERE webhook_id = webhooks.id AND due_at IS NOT NULL
         ORDER BY due_at LIMIT 1) AS due_at
    FROM pending JOIN webhooks ON webhooks.id = pending.webhook_id ORDER BY pending.step
    """
    ).columns(
        column("webhook_id"),
        column("account_id"),
        column("url"),
        column("enabled", Boolean),
        column("sealed_secret"),
        column("sealed_former_secret"),
        column("former_secret_until", Timestamp),
        column("last_success_at", Timestamp),
        column("consecutive_failures"),
        column("canceled_at", Timestamp),
        column("due_at", Timestamp),
    )
)
_CLAIMED_COLUMNS: Final[tuple[ColumnClause[Any], ...]] = (
    column("id"),
    column("account_id"),
    column("webhook_id"),
    column("event_id"),
    column("event_type"),
    column("body"),
    column("cause"),
    column("attempt", Integer),
    column("due_at", Timestamp),
    column("created_at", Timestamp),
)
_CLAIM_ON_POSTGRESQL: Final = CompiledChange(
    text(
        """
    WITH picked AS (
        SELECT due.id, due.due_at
        FROM unnest(:webhook_ids, :numbers) AS wanted(webhook_id, number)
        CROSS JOIN LATERAL (
            SELECT id, due_at FROM deliveries
            WHERE deliveries.webhook_id = wanted.webhook_id AND due_at <= :now
            ORDER BY due_at LIMIT wanted.number FOR UPDATE SKIP LOCKED
        ) AS due
    ), claimed AS (
        UPDATE deliveries SET due_at = :until, claim = :claim
        FROM picked WHERE deliveries.id = picked.id
        RETURNING deliveries.id, account_id, webhook_id, event_id, cause, attempts,
            picked.due_at, created_at
    )
    SELECT /* of all accounts */ claimed.id, claimed.account_id, webhook_id, event_id,
        events.type AS event_type, body, cause, attempts + 1 AS attempt,
        claimed.due_at, claimed.created_at
    FROM claimed JOIN events ON events.id = claimed.event_id
    ORDER BY claimed.due_at, claimed.id
    """
    )
    .bindparams(
        bindparam("webhook_ids", type_=ARRAY(Text)),
        bindparam("numbers", type_=ARRAY(Integer)),
        bindparam("now", type_=Timestamp),
        bindparam("until", type_=Timestamp),
    )
    .columns(*_CLAIMED_COLUMNS)
)
_DUE_ON_SQLITE: Final = CompiledChange(
    text(
        """
    SELECT /* of all accounts */ deliveries.id, deliveries.account_id, webhook_id, event_id,
        events.type AS event_type, body, cause,
        attempts + 1 AS attempt, due_at, deliveries.created_at
    FROM deliveries JOIN events ON events.id = deliveries.event_id
    WHERE webhook_id = :webhook AND due_at <= :now ORDER BY due_at LIMIT :number
    """
    )
    .bindparams(bindparam("now", type_=Timestamp))
    .columns(*_CLAIMED_COLUMNS)
)
_LEASE_ON_SQLITE: Final = CompiledChange(
    update(_DELIVERIES)
    .prefix_with(ALL_ACCOUNTS)
    .where(is_among_ids(_DELIVERIES.c.id))
    .values(due_at=bindparam("until"), claim=bindparam("run"))
)
_RELEASE: Final = CompiledChange(
    update(_DELIVERIES)
    .prefix_with(ALL_ACCOUNTS)
    .where(_DELIVERIES.c.id == bindparam("delivery"), _DELIVERIES.c.claim == bindparam("run"))
    .values(due_at=bindparam("due"), claim=None)
)


def find_pending_webhooks(after: str = "") -> tuple[list[PendingWebhook], str]:
    """Return some webhooks with pending deliveries, due or not, in the order of their ids, and the
    id after which to continue; "" after the last.

    Args:
        after: id after which to begin.
    """
    values = {"after": after, "limit": WEBHOOKS_AT_ONCE}
    rows = [PendingWebhook(*row) for row in _PENDING_WEBHOOKS.tuples(**values)]
    return rows, rows[-1].webhook_id if len(rows) >= WEBHOOKS_AT_ONCE else ""


def claim_deliveries(
    run_id: str, numbers: Mapping[str, int], now: datetime
) -> list[ClaimedDelivery]:
    """Claim due deliveries, the oldest of each webhook first, for ``LEASE``.

    Args:
        numbers: limits by the id of the webhook.
    """
    if not numbers:
        return []
    if db.engine.dialect.name == "postgresql":
        values = {"webhook_ids": list(numbers), "numbers": list(numbers.values())}
        times = {"now": now, "until": now + LEASE}
        rows = _CLAIM_ON_POSTGRESQL.all({**values, **times, "claim": run_id})
    else:
        rows = _claim_on_sqlite(run_id, numbers, now)
    return [ClaimedDelivery(*row) for row in rows]


def release_deliveries(run_id: str, deliveries: Iterable[ClaimedDelivery]) -> None:
    """End the leases of deliveries that were not sent. They are due as before."""
    rows = [{"delivery": row.id, "run": run_id, "due": row.due_at} for row in deliveries]
    if rows:
        _RELEASE.run_many(rows)


def _claim_on_sqlite(run_id: str, numbers: Mapping[str, int], now: datetime) -> list[Any]:
    """Claim with several statements in one transaction, during which nobody else writes."""
    rows = [
        row
        for webhook_id, number in numbers.items()
        for row in _DUE_ON_SQLITE.all({"webhook": webhook_id, "number": number, "now": now})
    ]
    if rows:
        ids = [row.id for row in rows]
        _LEASE_ON_SQLITE.run({"ids": ids, "until": now + LEASE, "run": run_id})
    return rows
