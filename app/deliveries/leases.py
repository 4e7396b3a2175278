"""What is due, and who has it in hand.

A delivery is claimed by putting its time off and marking it: whoever looks meanwhile passes it
over, and when a worker dies with it, it is due again as soon as that time has come. So several
workers share one database. Statements are about all accounts: this is the service's own work.

Nothing here commits. Each function is one short transaction's worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnClause,
    Integer,
    Table,
    Text,
    bindparam,
    column,
    select,
    text,
    update,
)
from sqlalchemy.sql.expression import TextualSelect

from app.db.column_types import Timestamp
from app.db.extensions import db
from app.db.queries import connect
from app.deliveries.types import ClaimedDelivery
from app.models import Delivery, Webhook
from app.policy.deliveries import CLAIMED_FOR

_DELIVERIES = cast("Table", Delivery.__table__)
_WEBHOOKS = cast("Table", Webhook.__table__)
_CANCELED_AT_ONCE: Final = 500  # deliveries
_MOST_AT_ONCE: Final = 200  # webhooks that one look finds, and one claim is about

# Steps from webhook to webhook along the index of what is pending, however much there is of each.
_WAITING = text(
    """
    WITH RECURSIVE waiting(webhook_id, place) AS (
        SELECT (SELECT webhook_id FROM deliveries
                WHERE due_at IS NOT NULL AND webhook_id > :after
                ORDER BY webhook_id LIMIT 1), 1
        UNION ALL
        SELECT (SELECT webhook_id FROM deliveries
                WHERE due_at IS NOT NULL AND webhook_id > waiting.webhook_id
                ORDER BY webhook_id LIMIT 1), place + 1
        FROM waiting WHERE webhook_id IS NOT NULL AND place < :most
    )
    SELECT webhooks.id AS webhook_id, account_id, url, enabled, sealed_secret,
        sealed_former_secret, former_secret_until, last_success_at, consecutive_failures,
        canceled_at,
        (SELECT due_at FROM deliveries WHERE webhook_id = webhooks.id AND due_at IS NOT NULL
         ORDER BY due_at LIMIT 1) AS due_at
    FROM waiting JOIN webhooks ON webhooks.id = waiting.webhook_id ORDER BY waiting.place
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
_CLAIMED_COLUMNS: Final[tuple[ColumnClause[Any], ...]] = (
    column("id"),
    column("account_id"),
    column("webhook_id"),
    column("event_id"),
    column("event_type"),
    column("event_created_at", Timestamp),
    column("body"),
    column("cause"),
    column("attempts", Integer),
    column("due_at", Timestamp),
    column("created_at", Timestamp),
)
_CLAIM_ON_POSTGRESQL = (
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
    SELECT claimed.id, claimed.account_id, webhook_id, event_id, events.type AS event_type,
        events.created_at AS event_created_at, body, cause, attempts, claimed.due_at,
        claimed.created_at
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
_TAKE_ON_SQLITE = (
    update(_DELIVERIES)
    .where(_DELIVERIES.c.id.in_(bindparam("ids", expanding=True)))
    .values(due_at=bindparam("until"), claim=bindparam("run"))
)
_RETURN = (
    update(_DELIVERIES)
    .where(_DELIVERIES.c.id == bindparam("delivery"), _DELIVERIES.c.claim == bindparam("run"))
    .values(due_at=bindparam("due"), claim=None)
)
_PENDING_SINCE_BEFORE = select(_DELIVERIES.c.id).where(
    _DELIVERIES.c.webhook_id == bindparam("webhook"),
    _DELIVERIES.c.due_at.is_not(None),
    _DELIVERIES.c.created_at <= bindparam("moment", type_=Timestamp),
)
_CANCEL_SOME = (
    update(_DELIVERIES)
    .where(
        _DELIVERIES.c.id.in_(
            _PENDING_SINCE_BEFORE.where(_DELIVERIES.c.claim.is_(None)).limit(bindparam("most"))
        )
    )
    .values(state="canceled", due_at=None)
)
_ALL_CANCELED = (
    update(_WEBHOOKS)
    .where(
        _WEBHOOKS.c.id == bindparam("webhook"),
        _WEBHOOKS.c.canceled_at == bindparam("moment", type_=Timestamp),
        ~_PENDING_SINCE_BEFORE.exists(),
    )
    .values(canceled_at=None)
)
_CANCELED = (
    update(_DELIVERIES)
    .where(
        _DELIVERIES.c.id.in_(bindparam("ids", expanding=True)),
        _DELIVERIES.c.claim == bindparam("run"),
    )
    .values(state="canceled", due_at=None, claim=None)
)


class PendingWebhook(NamedTuple):
    """A webhook for which something is pending, as it is now."""

    webhook_id: str
    account_id: str
    url: str
    enabled: bool
    sealed_secret: str
    sealed_former_secret: str | None
    former_secret_until: datetime | None
    last_success_at: datetime | None
    consecutive_failures: int
    canceled_at: datetime | None
    due_at: datetime  # of what is due first


def find_due_webhooks(after: str = "") -> tuple[list[PendingWebhook], str]:
    """Webhooks for which something is pending, due or not, in the order of their ids.

    Args:
        after: the id after which to begin.

    Returns:
        some of them, and where to go on; "" when these were the last.
    """
    values = {"after": after, "most": _MOST_AT_ONCE}
    with connect() as connection:  # a look takes no lock
        rows = [PendingWebhook(*row) for row in connection.execute(_WAITING, values)]
    return rows, rows[-1].webhook_id if len(rows) >= _MOST_AT_ONCE else ""


def claim(run: str, numbers: Mapping[str, int], now: datetime) -> list[ClaimedDelivery]:
    """Take deliveries that are due, so many of each webhook at most, those first that were due
    first. Nobody else takes them before ``CLAIMED_FOR`` is over.

    Args:
        run: who takes them.
        numbers: by the id of the webhook.
    """
    if not numbers:
        return []
    if db.engine.dialect.name == "postgresql":
        values = {"webhook_ids": list(numbers), "numbers": list(numbers.values())}
        rows = db.session.execute(
            _CLAIM_ON_POSTGRESQL,
            {**values, "now": now, "until": now + CLAIMED_FOR, "claim": run},
        ).all()
    else:
        rows = _claim_on_sqlite(run, numbers, now)
    return [_parcel(row) for row in rows]


def cancel_before(waiting: PendingWebhook) -> bool:
    """Cancel what was pending for a webhook when it was disabled, due or not, and forget that
    moment when nothing is left of it. Returns whether more may be left."""
    values = {"webhook": waiting.webhook_id, "moment": waiting.canceled_at}
    some = values | {"most": _CANCELED_AT_ONCE}
    result: Any = db.session.connection().execute(_CANCEL_SOME, some)
    if result.rowcount >= _CANCELED_AT_ONCE:
        return True
    db.session.connection().execute(_ALL_CANCELED, values)
    return False


def give_back(run: str, parcels: Iterable[ClaimedDelivery]) -> None:
    """Leave deliveries that were claimed and not begun to whoever looks next."""
    rows = [{"delivery": parcel.id, "run": run, "due": parcel.due_at} for parcel in parcels]
    if rows:
        db.session.connection().execute(_RETURN, rows)


def cancel(run: str, parcels: Iterable[ClaimedDelivery]) -> None:
    """These are not sent any more."""
    if ids := [parcel.id for parcel in parcels]:
        db.session.connection().execute(_CANCELED, {"ids": ids, "run": run})


def _claim_on_sqlite(run: str, numbers: Mapping[str, int], now: datetime) -> Sequence[Any]:
    """Two statements of one transaction, in which nobody else writes."""
    values: dict[str, Any] = {"now": now}
    for place, (webhook_id, number) in enumerate(numbers.items()):
        values |= {f"w{place}": webhook_id, f"n{place}": number}
    rows = db.session.execute(_pick_on_sqlite(len(numbers)), values).all()
    if rows:
        ids = [row.id for row in rows]
        taking = {"ids": ids, "until": now + CLAIMED_FOR, "run": run}
        db.session.connection().execute(_TAKE_ON_SQLITE, taking)
    return rows


def _pick_on_sqlite(number: int) -> TextualSelect:
    """What is due of so many webhooks."""
    picked = " UNION ALL ".join(
        f"SELECT * FROM (SELECT id FROM deliveries WHERE webhook_id = :w{n}"  # noqa: S608 - numbers
        f" AND due_at <= :now ORDER BY due_at LIMIT :n{n})"
        for n in range(number)
    )
    return (
        text(
            "SELECT deliveries.id, deliveries.account_id, webhook_id, event_id,"  # noqa: S608
            " events.type AS event_type, events.created_at AS event_created_at, body, cause,"
            f" attempts, due_at, deliveries.created_at FROM ({picked}) AS picked"
            " JOIN deliveries ON deliveries.id = picked.id"
            " JOIN events ON events.id = deliveries.event_id ORDER BY due_at, deliveries.id"
        )
        .bindparams(bindparam("now", type_=Timestamp))
        .columns(*_CLAIMED_COLUMNS)
    )


def _parcel(row: Any) -> ClaimedDelivery:
    return ClaimedDelivery(
        id=row.id,
        account_id=row.account_id,
        webhook_id=row.webhook_id,
        event_id=row.event_id,
        event_type=row.event_type,
        event_created_at=row.event_created_at,
        body=row.body,
        cause=row.cause,
        attempt=row.attempts + 1,
        due_at=row.due_at,
        created_at=row.created_at,
    )
