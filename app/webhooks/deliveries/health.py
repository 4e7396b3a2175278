"""The health of webhooks in the database: disabling those that fail, with mails about it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import Table, and_, bindparam, case, func, true, tuple_, update

from app.audit.entries import changes_of_new, write_entry
from app.audit.targets import Target
from app.auth.memberships import members_in_roles
from app.auth.tenant import ALL_ACCOUNTS
from app.db.column_types import Timestamp
from app.db.extensions import db
from app.db.transactions import CompiledChange
from app.mail.service import queue_mail
from app.models import Webhook
from app.policy.deliveries import DISABLED_AFTER, WARNED_AFTER
from app.policy.permissions import ROLES
from app.security.masking import masked_url
from app.values import clock
from app.values.clock import describe_duration
from app.webhooks.deliveries.cancellation import end_replays
from app.webhooks.deliveries.types import Outcome

log = logging.getLogger(__name__)

FAILING: Final = "webhook_failing"  # kinds of mails
DISABLED: Final = "webhook_disabled"

_WEBHOOKS = cast("Table", Webhook.__table__)
_CHANGED_COLUMNS: Final = tuple(
    _WEBHOOKS.c[name] for name in ("id", "account_id", "url", "disabled_reason", "failing_since")
)
_SUCCESS_AT: Final = bindparam("success_at", type_=Timestamp)
_FAILED_AT: Final = bindparam("failed_at", type_=Timestamp)
_GIVEN_UP_AT: Final = bindparam("given_up_at", type_=Timestamp)
# An attempt that ended before a 410 may be saved after it.
_CLEARS = and_(bindparam("has_success"), func.coalesce(_WEBHOOKS.c.disabled_reason, "") != "gone")
_UPDATE: Final = CompiledChange(
    update(_WEBHOOKS)
    .prefix_with(ALL_ACCOUNTS)
    .where(_WEBHOOKS.c.id == bindparam("webhook"), _WEBHOOKS.c.url == bindparam("called"))
    .values(
        last_success_at=func.coalesce(_SUCCESS_AT, _WEBHOOKS.c.last_success_at),
        consecutive_failures=case(
            (bindparam("has_success"), bindparam("failures")),
            else_=_WEBHOOKS.c.consecutive_failures + bindparam("failures"),
        ),
        failing_since=case(
            (_CLEARS, _FAILED_AT),
            else_=func.coalesce(_WEBHOOKS.c.failing_since, _FAILED_AT),
        ),
        given_up_at=case(
            (_CLEARS, _GIVEN_UP_AT),
            else_=func.coalesce(_WEBHOOKS.c.given_up_at, _GIVEN_UP_AT),
        ),
        warned_at=case((bindparam("has_success"), None), else_=_WEBHOOKS.c.warned_at),
    )
)
_URL_SHOWN: Final = 300  # characters; lines of a mail are limited
_ADMIN_ROLES: Final = tuple(role for role, permissions in ROLES.items() if "admin" in permissions)

CalledUrl = tuple[str, str]  # the id of a webhook, and the URL that was called


@dataclass(slots=True)
class Streak:
    """The effect of consecutive attempts on a webhook."""

    success_at: datetime | None = None  # the last success
    failures: int = 0  # since then
    failed_at: datetime | None = None  # the first failure since then
    given_up_at: datetime | None = None  # when the first delivery since then was given up
    is_gone: bool = False

    def add(self, outcome: Outcome) -> None:
        if self.is_gone:  # the attempt may have begun before the 410
            return
        if outcome.error is None:
            self.success_at, self.failures = outcome.ended_at, 0
            self.failed_at = self.given_up_at = None
        else:
            self.failures += 1
            self.failed_at = self.failed_at or outcome.ended_at
            if outcome.gives_up:
                self.given_up_at = self.given_up_at or outcome.ended_at
            self.is_gone = outcome.is_gone


def update_health(outcomes: Iterable[Outcome]) -> bool:
    """Update webhooks after attempts, and disable those that have failed for long or are gone.
    Attempts at a former URL are ignored. Returns True if a webhook was disabled."""
    streaks: defaultdict[CalledUrl, Streak] = defaultdict(Streak)
    for outcome in outcomes:
        streaks[outcome.delivery.webhook_id, outcome.url].add(outcome)
    rows = [
        {
            "webhook": webhook_id,
            "called": url,
            "success_at": streak.success_at,
            "has_success": streak.success_at is not None,
            "failures": streak.failures,
            "failed_at": streak.failed_at,
            "given_up_at": streak.given_up_at,
        }
        for (webhook_id, url), streak in sorted(streaks.items(), key=lambda item: item[0])
    ]  # in a fixed order, so that two workers do not deadlock
    if rows:
        _UPDATE.run_many(rows)
    failing = {target: streak for target, streak in streaks.items() if streak.failed_at}
    return bool(failing) and _disable_or_warn(failing)


def forget_warnings() -> None:
    """Have webhooks that fail be warned again before they are disabled. Nothing is sent out now, so
    none can succeed."""
    warned = update(_WEBHOOKS).prefix_with(ALL_ACCOUNTS).where(_WEBHOOKS.c.warned_at.is_not(None))
    db.session.connection().execute(warned.values(warned_at=None))


def _disable_or_warn(failing: Mapping[CalledUrl, Streak]) -> bool:
    """Disable webhooks that are gone or have failed for long, and warn a day before. Returns True
    if a webhook was disabled."""
    moment = max(streak.failed_at for streak in failing.values() if streak.failed_at)
    gone = [target for target, streak in failing.items() if streak.is_gone]
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
        disabled += _change_webhooks(targets, condition, values)
    for row in disabled:
        log.warning("webhook %s is disabled: %s", row.id, row.disabled_reason)
        _log_disabling(row)
        end_replays(row.account_id, row.id)
        mail_admins(DISABLED, row)
    soon = _WEBHOOKS.c.failing_since <= moment - WARNED_AFTER
    for row in _change_webhooks(
        failing, _WEBHOOKS.c.warned_at.is_(None) & soon, {"warned_at": moment}
    ):
        mail_admins(FAILING, row)
    return bool(disabled)


def _log_disabling(row: Any) -> None:
    changes = changes_of_new({"reason": row.disabled_reason})
    target = Target("webhook", row.id, masked_url(row.url))
    write_entry("webhook.disabled", target, account_id=row.account_id, changes=changes)


def _change_webhooks(
    targets: Iterable[CalledUrl], condition: Any, values: Mapping[str, Any]
) -> Sequence[Any]:
    """Change the enabled webhooks that meet the condition. Returns their rows."""
    if not targets:
        return ()
    statement = (
        update(_WEBHOOKS)
        .where(
            tuple_(_WEBHOOKS.c.id, _WEBHOOKS.c.url).in_(sorted(targets)),
            _WEBHOOKS.c.enabled,
            condition,
        )
        .values(values)
        .returning(*_CHANGED_COLUMNS)
    )
    return db.session.connection().execute(statement).all()


def mail_admins(kind: str, row: Any) -> None:
    """Queue a mail to everybody who may change the account's webhooks, in the current transaction:
    at most one a day of each kind for each webhook and person.

    Args:
        kind: ``webhook_failing`` or ``webhook_disabled``.
        row: the webhook's row of ``_CHANGED_COLUMNS``.
    """
    since: datetime = row.failing_since or clock.now()
    url: str = row.url
    shared = {
        "url": url if len(url) <= _URL_SHOWN else f"{url[:_URL_SHOWN]}…",
        "webhook_id": row.id,
        "reason": row.disabled_reason,
        "since": clock.format_time(since),
        "life": describe_duration(DISABLED_AFTER),
        "disabled_at": clock.format_time(_disabled_at(since)),
        "path": f"/v1/webhooks/{row.id}",
    }
    occasion = f"{kind}:{row.account_id}:{row.id}:{clock.now():%Y-%m-%d}"
    for person in members_in_roles(row.account_id, _ADMIN_ROLES):
        own = {"name": person.name, "account_name": person.account_name}
        queue_mail(
            kind,
            person.email,
            cause=f"{occasion}:{person.id}",
            values=shared | own,
            account_id=row.account_id,
        )


def _disabled_at(since: datetime) -> datetime:
    """Return when a webhook is disabled unless a delivery succeeds: in a day at the earliest."""
    return max(since + DISABLED_AFTER, clock.now() + (DISABLED_AFTER - WARNED_AFTER))
