"""The health and the attempts of webhooks, for pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func

from app.auth.tenant import columns_of
from app.db.column_types import Timestamp
from app.db.queries import CompiledQuery
from app.models import AttemptCount, Delivery, Webhook
from app.values import clock
from app.values.ids import is_id
from app.webhooks.record import COLUMNS, not_found, row_record

_DAY: Final = timedelta(hours=24)
_HEALTH: Final = (Webhook.failing_since, Webhook.canceled_at, Webhook.former_secret_until)
_LIVE = columns_of(Webhook, *COLUMNS, *_HEALTH).where(Webhook.deleted_at.is_(None))
_ALL = CompiledQuery(_LIVE.order_by(Webhook.id))
_ONE = CompiledQuery(_LIVE.where(Webhook.id == bindparam("webhook_id")))
_IDS = columns_of(Webhook, Webhook.id).where(Webhook.deleted_at.is_(None)).scalar_subquery()
_SINCE = AttemptCount.hour > bindparam("since", type_=Timestamp())
_LAST_DAY = CompiledQuery(
    columns_of(AttemptCount, AttemptCount.webhook_id, AttemptCount.status)
    .add_columns(func.sum(AttemptCount.number).label("number"))
    .where(AttemptCount.webhook_id.in_(_IDS), _SINCE)
    .group_by(AttemptCount.webhook_id, AttemptCount.status)
)
_HOURS = CompiledQuery(
    columns_of(
        AttemptCount,
        AttemptCount.hour,
        AttemptCount.status,
        AttemptCount.took_ms,
        AttemptCount.number,
    ).where(AttemptCount.webhook_id == bindparam("webhook_id"), _SINCE)
)
_WAITING = CompiledQuery(
    columns_of(Delivery, Delivery.id)
    .where(
        Delivery.webhook_id == bindparam("webhook_id"),
        Delivery.due_at > bindparam("moment", type_=Timestamp()),
        Delivery.attempts > 0,
    )
    .limit(bindparam("limit"))
)


class AttemptTotal(NamedTuple):
    """The number of attempts in an hour or a day with the same result and rounded duration
    (``AttemptCount``)."""

    begins: str  # time of the hour or day in the API's format
    status: str
    took_ms: int
    number: int


def count_waiting_deliveries(account_id: str, webhook_id: str, limit: int) -> int:
    """Return the number of deliveries to a webhook that wait for a retry, at most ``limit``."""
    values = {"account_id": account_id, "webhook_id": webhook_id, "moment": clock.now()}
    return len(_WAITING.tuples(**values, limit=limit))


def list_overviews(account_id: str) -> list[dict[str, Any]]:
    """Return all webhooks, the oldest first: their records, and

    * ``failing_since``: time of the first failure since the last success, or None;
    * ``disabled_at``: time when it was disabled, or None;
    * ``former_secret_until``: time until which the former secret also signs, or None;
    * ``last_day``: attempts of the last 24 hours by status.
    """
    since = clock.now() - _DAY
    numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for webhook_id, status, number in _LAST_DAY.tuples(account_id=account_id, since=since):
        numbers[webhook_id][status] = int(number)
    rows = _ALL.tuples(account_id=account_id)
    return [_activity_overview(row) | {"last_day": numbers[row[0]]} for row in rows]


def read_overview(account_id: str, webhook_id: str) -> dict[str, Any]:
    """Return a webhook as in ``list_overviews``, without ``last_day``. Raises NotFound."""
    is_valid = is_id("webhook", webhook_id)
    rows = _ONE.tuples(account_id=account_id, webhook_id=webhook_id) if is_valid else []
    if not rows:
        raise not_found()
    return _activity_overview(rows[0])


def count_by_hour(account_id: str, webhook_id: str, since: datetime) -> list[AttemptTotal]:
    """Return the attempts by hour, in the hours that began after ``since``."""
    rows = _HOURS.tuples(account_id=account_id, webhook_id=webhook_id, since=since)
    return [AttemptTotal(*row) for row in rows]


def count_by_day(account_id: str, webhook_id: str, since: datetime) -> list[AttemptTotal]:
    """Return the attempts by day (UTC), in the hours that began after ``since``."""
    numbers = Counter[tuple[str, str, int]]()
    for begins, status, took_ms, number in count_by_hour(account_id, webhook_id, since):
        numbers[f"{begins[:10]}T00:00:00.000Z", status, took_ms] += number
    return [AttemptTotal(*key, number) for key, number in numbers.items()]


def _activity_overview(row: tuple[Any, ...]) -> dict[str, Any]:
    failing_since, canceled_at, former_until = row[len(COLUMNS) :]
    record = row_record(row[: len(COLUMNS)])
    is_former = former_until is not None and former_until > clock.format_time(clock.now())
    return record | {
        "failing_since": failing_since,
        # ``updated_at`` may be later, and ``canceled_at`` is cleared soon.
        "disabled_at": None if record["enabled"] else canceled_at or record["updated_at"],
        "former_secret_until": former_until if is_former else None,
    }
