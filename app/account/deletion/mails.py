"""Mails about the deletion of accounts and people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from flask import current_app

from app.mail.service import queue_mail
from app.models import Account, User
from app.values.clock import format_optional_time
from app.values.ids import new_id

SCHEDULED: Final = "account_deletion_scheduled"
CANCELED: Final = "account_deletion_canceled"
DELETED: Final = "account_deleted"
PERSON_DELETED: Final = "person_deleted"


def mail_scheduled(account: Account, by_email: str, people: Iterable[Any]) -> None:
    """Tell people who scheduled the deletion of their account, and how to cancel it."""
    # The recipient may be working in another of their accounts.
    link = f"{current_app.config['SETTINGS'].public_url}/accounts/{account.slug}/deletion"
    _queue_deletion_mails(SCHEDULED, account, people, by_email=by_email, link=link)


def mail_canceled(account: Account, by_email: str, people: Iterable[Any]) -> None:
    """Tell people who canceled the deletion of their account.

    Args:
        by_email: empty for the operator of the instance.
    """
    _queue_deletion_mails(CANCELED, account, people, by_email=by_email)


def mail_deleted(account: Account, people: Iterable[Any]) -> None:
    """Tell people that their account is being deleted now."""
    _queue_deletion_mails(DELETED, account, people)


def mail_person_deleted(person: User) -> None:
    """Tell a person that they were deleted."""
    values = {"name": person.name}
    queue_mail(PERSON_DELETED, person.email, cause=_mail_cause(PERSON_DELETED), values=values)


def _queue_deletion_mails(kind: str, account: Account, people: Iterable[Any], **more: Any) -> None:
    deletes_at = format_optional_time(account.deletes_at)
    for person in people:
        values = {"name": person.name, "account_name": account.name, "deletes_at": deletes_at}
        queue_mail(
            kind, person.email, cause=_mail_cause(kind), values=values | more, account_id=account.id
        )


def _mail_cause(kind: str) -> str:
    """A cause for a mail, without the id of what is deleted: the mail's row outlives it."""
    return f"{kind}:{new_id('mail')}"
