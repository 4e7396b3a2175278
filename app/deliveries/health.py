"""The health of webhooks: what their records say of it, and when one is disabled."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import Table, bindparam, case, func, true, tuple_, update

from app.db.column_types import Timestamp
from app.db.extensions import db
from app.deliveries.cancellation import end_replays
from app.deliveries.health_mails import DISABLED, FAILING, tell_admins
from app.deliveries.types import Outcome
from app.models import Webhook
from app.policy.deliveries import DISABLED_AFTER, WARNED_AFTER

log = logging.getLogger(__name__)

_WEBHOOKS = cast("Table", Webhook.__table__)
_TOLD: Final = tuple(
    _WEBHOOKS.c[name] for name in ("id", "account_id", "url", "disabled_reason", "failing_since")
)
_SUCCESS_AT: Final = bindparam("success_at", type_=Timestamp)
_FAILED_AT: Final = bindparam("failed_at", type_=Timestamp)
_NOTE = (
    update(_WEBHOOKS)
    .where(_WEBHOOKS.c.id == bindparam("webhook"), _WEBHOOKS.c.url == bindparam("called"))
    .values(
        last_success_at=func.coalesce(_SUCCESS_AT, _WEBHOOKS.c.last_success_at),
        consecutive_failures=case(
            (bindparam("has_success"), bindparam("failures")),
            else_=_WEBHOOKS.c.consecutive_failures + bindparam("failures"),
        ),
        failing_since=case(
            (bindparam("has_success"), _FAILED_AT),
            else_=func.coalesce(_WEBHOOKS.c.failing_since, _FAILED_AT),
        ),
        warned_at=case((bindparam("has_success"), None), else_=_WEBHOOKS.c.warned_at),
    )
)


@dataclass(slots=True)
class Record:
    """What some attempts, one after the other, mean for a webhook."""

    success_at: datetime | None = None  # the last one
    failures: int = 0  # after it
    failed_at: datetime | None = None  # the first of them
    is_gone: bool = False

    def add(self, outcome: Outcome) -> None:
        if self.is_gone:  # what ended later may have begun before
            return
        if outcome.error is None:
            self.success_at, self.failures, self.failed_at = outcome.ended_at, 0, None
        else:
            self.failures += 1
            self.failed_at = self.failed_at or outcome.ended_at
            self.is_gone = outcome.is_gone


Target = tuple[str, str]  # a webhook, and the URL that was called


def record_health(outcomes: Iterable[Outcome]) -> bool:
    """Bring the records up to date, and disable what failed for long or says that it is gone. What
    came of a URL that is no longer the webhook's says nothing about it.

    Returns whether any was disabled.
    """
    records: defaultdict[Target, Record] = defaultdict(Record)
    for outcome in outcomes:
        records[outcome.parcel.webhook_id, outcome.url].add(outcome)
    rows = [
        {
            "webhook": webhook_id,
            "called": url,
            "success_at": record.success_at,
            "has_success": record.success_at is not None,
            "failures": record.failures,
            "failed_at": record.failed_at,
        }
        for (webhook_id, url), record in sorted(records.items(), key=lambda item: item[0])
    ]  # in one order, so that two workers that lock them do not wait for each other
    if rows:
        db.session.connection().execute(_NOTE, rows)
    failing = {target: record for target, record in records.items() if record.failed_at}
    return bool(failing) and _judge(failing)


def _judge(failing: Mapping[Target, Record]) -> bool:
    """Disable webhooks that just failed and are gone, or failed for so long; warn a day before."""
    moment = max(record.failed_at for record in failing.values() if record.failed_at)
    gone = [target for target, record in failing.items() if record.is_gone]
    long_ago = _WEBHOOKS.c.failing_since <= moment - DISABLED_AFTER
    warned = _WEBHOOKS.c.warned_at <= moment - (DISABLED_AFTER - WARNED_AFTER)
    disabled: list[Any] = []
    for reason, targets, condition in (
        ("gone", gone, true()),
        ("failing", failing, long_ago & warned),
    ):
        values = {
            "enabled": False,
            "disabled_reason": reason,
            "canceled_at": moment,
            "updated_at": moment,
        }
        disabled += _changed(targets, condition, values)
    for row in disabled:
        log.warning("webhook %s is disabled: %s", row.id, row.disabled_reason)
        end_replays(row.account_id, row.id)
        _tell(DISABLED, row)
    soon = _WEBHOOKS.c.failing_since <= moment - WARNED_AFTER
    for row in _changed(failing, _WEBHOOKS.c.warned_at.is_(None) & soon, {"warned_at": moment}):
        _tell(FAILING, row)
    return bool(disabled)


def _changed(targets: Iterable[Target], condition: Any, values: Mapping[str, Any]) -> Sequence[Any]:
    """Change those of the webhooks that are enabled and meet the condition. Returns their rows."""
    if not targets:
        return ()
    changing = (
        update(_WEBHOOKS)
        .where(
            tuple_(_WEBHOOKS.c.id, _WEBHOOKS.c.url).in_(sorted(targets)),
            _WEBHOOKS.c.enabled,
            condition,
        )
        .values(values)
        .returning(*_TOLD)
    )
    return db.session.connection().execute(changing).all()


def _tell(kind: str, row: Any) -> None:
    values = {"url": row.url, "reason": row.disabled_reason, "failing_since": row.failing_since}
    tell_admins(row.account_id, kind, row.id, values)
