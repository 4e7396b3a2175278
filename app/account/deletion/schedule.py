"""Scheduling and canceling the deletion of an account."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, select

from app.account.deletion.mails import mail_canceled, mail_deleted, mail_scheduled
from app.audit.entries import write_entry
from app.audit.origin import OPERATOR, Actor
from app.auth.memberships import check_owner, members_in_roles
from app.auth.principal import Principal
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Conflict
from app.models import Account, User
from app.policy.deletion import DELETED_AFTER
from app.policy.permissions import OWNER
from app.values import clock
from app.values.clock import format_optional_time

_NOTIFIED_ROLES: Final = (OWNER, "admin")
_DELETED_SINCE: Final = "A former owner"  # the label of a person who was deleted meanwhile
_SCHEDULED: Final = CompiledQuery(
    select(Account.deletes_at, User.email)
    .outerjoin(User, User.id == Account.deletion_scheduled_by)
    .where(Account.id == bindparam("account_id"), Account.deletes_at.is_not(None))
)

_DUE: Final = CompiledQuery(
    select(Account.id).where(Account.deletes_at <= bindparam("now")).order_by(Account.deletes_at)
)


def scheduled_deletion(account_id: str) -> Any:
    """The scheduled deletion of an account, or None: a row with ``deletes_at`` and the ``email`` of
    who scheduled it, None if they were deleted since."""
    return _SCHEDULED.first(account_id=account_id)


def schedule_deletion(principal: Principal) -> None:
    """Schedule the deletion of an account after ``DELETED_AFTER``, and mail its owners and admins.

    Raises:
        Forbidden: the person is not an owner.
        Conflict: it is scheduled already.
    """
    account = _lock_account(principal)
    if account.deletes_at is not None:
        raise Conflict(
            "deletion_scheduled", "account", "The deletion of this account is already scheduled."
        )
    account.deletes_at = clock.now() + DELETED_AFTER
    account.deletion_scheduled_by = principal.user_id
    _log_deletion_change("account.deletion_scheduled", account, None)
    mail_scheduled(account, principal.user_email, members_in_roles(account.id, _NOTIFIED_ROLES))


def cancel_deletion(principal: Principal) -> None:
    """Cancel the deletion of an account, and mail its owners and admins.

    Raises:
        Forbidden: the person is not an owner.
        Conflict: it is not scheduled, or has begun.
    """
    _cancel_deletion(_lock_account(principal), principal.user_email)


def cancel_by_operator(account_id: str) -> None:
    """Cancel the deletion of an account as the operator of the instance. Raises Conflict."""
    _cancel_deletion(
        db.session.get_one(Account, account_id, with_for_update={"key_share": True}), ""
    )


def due_accounts() -> list[str]:
    """The ids of the accounts whose deletion is due."""
    return [row.id for row in _DUE.all(now=clock.now())]


def begin_deletion(account_id: str) -> Actor | None:
    """Lock an account that is to be deleted, and mail its owners and admins.

    Returns who scheduled the deletion, or the operator, who has begun it with a command. Returns
    None if it was canceled or the account was deleted just now.
    """
    account = db.session.get(Account, account_id, with_for_update=True)
    if account is None or account.deletes_at is None or account.deletes_at > clock.now():
        return None
    mail_deleted(account, members_in_roles(account_id, _NOTIFIED_ROLES))
    scheduled_by = account.deletion_scheduled_by
    if scheduled_by is None:
        return OPERATOR
    scheduler = db.session.get(User, scheduled_by)
    return Actor.person(scheduled_by, _DELETED_SINCE if scheduler is None else scheduler.email)


def _cancel_deletion(account: Account, by_email: str) -> None:
    before = account.deletes_at
    if before is None:
        raise Conflict(
            "deletion_not_scheduled", "account", "The account is not scheduled for deletion."
        )
    if before <= clock.now():
        raise Conflict(
            "account_being_deleted",
            "account",
            "The deletion has begun and can no longer be canceled.",
        )
    account.deletes_at = account.deletion_scheduled_by = None
    _log_deletion_change("account.deletion_canceled", account, before)
    mail_canceled(account, by_email, members_in_roles(account.id, _NOTIFIED_ROLES))


def _log_deletion_change(action: str, account: Account, before: datetime | None) -> None:
    after = account.deletes_at
    times = {"from": format_optional_time(before), "to": format_optional_time(after)}
    write_entry(action, account, changes={"deletes_at": times})


def _lock_account(principal: Principal) -> Account:
    account = db.session.get_one(Account, principal.account_id, with_for_update={"key_share": True})
    check_owner(principal)
    return account
