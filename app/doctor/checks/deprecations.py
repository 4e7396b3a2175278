"""Checks that no account uses a deprecated operation that the next release may leave out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, cast

from sqlalchemy import Connection, Table, func

from app.auth.tenant import select_of_all_accounts
from app.doctor.results import Result, ok, warning
from app.models import DeprecatedRequest
from app.policy import deprecations
from app.policy.deprecations import USED_DAYS, WARNING_DAYS
from app.values import clock
from app.values.text import pluralize

_REQUESTS: Final = cast("Table", DeprecatedRequest.__table__)


def still_used(connection: Connection) -> Iterator[Result]:
    """Nobody uses a deprecated operation that may soon be gone."""
    now = clock.now()
    rows = connection.execute(
        select_of_all_accounts(
            _REQUESTS.c.deprecation, func.count(_REQUESTS.c.account_id.distinct())
        )
        .where(_REQUESTS.c.day > clock.day_of(now - timedelta(days=USED_DAYS)))
        .group_by(_REQUESTS.c.deprecation)
    )
    accounts = {deprecation: int(number) for deprecation, number in rows}
    for each in deprecations.DEPRECATIONS:
        number = accounts.get(each.id, 0)
        who = pluralize(number, "account")
        what = f"{each.operation} ({each.what})"
        soon = each.sunset is not None and now.date() >= each.sunset - timedelta(days=WARNING_DAYS)
        if number and soon:
            yield warning(
                f"{who} used {what} in the last {USED_DAYS} days. A release after {each.sunset} "
                "may leave it out",
                "Read the changelog before you upgrade. The owners see who uses it at /usage, and "
                f"get an email. What to use instead: {each.replacement}",
            )
        else:
            yield ok(f"{what}, which is deprecated, is used by {who}")
