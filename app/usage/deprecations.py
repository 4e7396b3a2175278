"""Uses of deprecated operations by an account's credentials, and the mails before a sunset."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func

from app.auth.memberships import members_in_roles
from app.auth.tenant import select_of_all_accounts
from app.db.extensions import db
from app.limits.request_counts import deprecated_requests
from app.mail.service import queue_mail
from app.models import DeprecatedRequest
from app.policy import deprecations
from app.policy.bounds import ENDED_CALLERS, REQUEST_DAYS
from app.policy.deprecations import MAIL_DAYS, USED_DAYS, Deprecation
from app.usage.requests import Caller, callers_by_id, ended_callers, last_days
from app.values import clock

MAIL: Final = "deprecation_ends"  # the kind of mail

_ACCOUNTS = (
    select_of_all_accounts(
        DeprecatedRequest.account_id, func.sum(DeprecatedRequest.requests).label("requests")
    )
    .where(
        DeprecatedRequest.deprecation == bindparam("deprecation"),
        DeprecatedRequest.day > bindparam("after"),
    )
    .group_by(DeprecatedRequest.account_id)
    .order_by(DeprecatedRequest.account_id)
)


class DeprecatedUse(NamedTuple):
    """The use of something deprecated by one credential."""

    caller: Caller
    last_day: str
    requests: int  # in the last USED_DAYS days


class DeprecationUse(NamedTuple):
    """Something deprecated, and its uses in the account in the last 90 days, latest first."""

    deprecation: Deprecation
    uses: list[DeprecatedUse]

    @property
    def is_used(self) -> bool:
        """True if it was used in the last USED_DAYS days."""
        return any(each.requests for each in self.uses)


def read_deprecations(account_id: str, most_ended: int = ENDED_CALLERS) -> list[DeprecationUse]:
    """List everything that is deprecated, with its uses in the account.

    Args:
        most_ended: as in ``read_requests``.
    """
    table, days = deprecations.DEPRECATIONS, last_days(REQUEST_DAYS)
    known = callers_by_id(account_id)
    counted = deprecated_requests(account_id, known, [each.id for each in table], days, most_ended)
    known |= ended_callers(account_id, {credential for credential, _ in counted} - known.keys())
    recent = set(days[-USED_DAYS:])
    found: dict[str, list[DeprecatedUse]] = {each.id: [] for each in table}
    for (credential, deprecation), by_day in counted.items():
        number = sum(number for day, number in by_day.items() if day in recent)
        if deprecation in found:  # else it is gone
            found[deprecation].append(DeprecatedUse(known[credential], max(by_day), number))
    for uses in found.values():
        uses.sort(key=lambda each: (each.last_day, each.requests), reverse=True)
    return [DeprecationUse(each, found[each.id]) for each in table]


def deprecation_record(it: DeprecationUse) -> dict[str, Any]:
    """Build the record of the API."""
    return {
        "id": it.deprecation.id,
        "operation": it.deprecation.operation,
        "name": it.deprecation.name or None,
        "what": it.deprecation.what,
        "since": it.deprecation.since.isoformat(),
        "sunset": it.deprecation.sunset.isoformat() if it.deprecation.sunset else None,
        "replacement": it.deprecation.replacement,
        "used_by": [
            {
                "id": each.caller.id,
                "type": each.caller.kind,
                "name": each.caller.name,
                "last_used_on": each.last_day,
                "requests": each.requests,
            }
            for each in it.uses
        ],
    }


def warn_owners() -> int:
    """Mail the owners of accounts that still use something within MAIL_DAYS of its sunset, once.

    Returns the number of mails, including those that were queued by an earlier run.
    """
    today, number = clock.now().date(), 0
    for each in deprecations.DEPRECATIONS:
        if each.sunset is None or not each.sunset - timedelta(days=MAIL_DAYS) <= today:
            continue
        if today < each.sunset:  # later, the earlier mail would no longer be known
            number += sum(_mail_owners(row, each, each.sunset) for row in _accounts_using(each))
    return number


def _accounts_using(it: Deprecation) -> list[Any]:
    """The accounts that have used something deprecated lately, with their number of requests."""
    after = clock.day_of(clock.now() - timedelta(days=USED_DAYS))
    return list(db.session.execute(_ACCOUNTS, {"deprecation": it.id, "after": after}).all())


def _mail_owners(row: Any, it: Deprecation, sunset: date) -> int:
    owners = members_in_roles(row.account_id, ("owner",))
    for owner in owners:
        values = {
            "name": owner.name,
            "account_name": owner.account_name,
            "operation": it.operation,
            "what": it.what,
            "replacement": it.replacement,
            "sunset": sunset.isoformat(),
            "requests": int(row.requests),
            "days": USED_DAYS,
        }
        cause = f"deprecation:{it.id}:{row.account_id}:{owner.id}"
        queue_mail(MAIL, owner.email, cause=cause, values=values, account_id=row.account_id)
    return len(owners)
