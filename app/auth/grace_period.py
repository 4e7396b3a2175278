"""The grace period of members without a second factor in an account that requires one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from app.values import clock

MUST_TURN_ON: Final = (
    "This account requires a second factor, and you have none. Turn one on in your profile, at "
    "/profile/second-factor."
)


def due_at(row: Any) -> datetime | None:
    """The end of a member's grace period; None if they have a second factor, or need none.

    Args:
        row: has ``second_factor_since`` of the person, ``second_factor_required_at`` and
            ``second_factor_grace_days`` of the account, and ``joined_at``.
    """
    if row.second_factor_required_at is None or row.second_factor_since is not None:
        return None
    since: datetime = row.second_factor_required_at
    if row.joined_at is not None:
        since = max(since, row.joined_at)
    return since + timedelta(days=row.second_factor_grace_days or 0)


def is_overdue(due: datetime | None) -> bool:
    """True if the grace period is over."""
    return due is not None and due <= clock.now()
