"""Reporting a change of a second factor: to the audit log, and to the person by mail."""

from __future__ import annotations

from typing import Any

from app.auth.principal import Principal
from app.models import User
from app.people.second_factor.auditing import record_change
from app.people.second_factor.mails import mail_change


def report_change(
    person: User, change: str, *, address: str, principal: Principal | None = None, **more: Any
) -> None:
    """Record a change in the audit log, and mail it to the person.

    Args:
        change: one of ``app.people.second_factor.mails.TITLES``.
        address: the client's IP address; empty if somebody else made the change.
        principal: who resets it in their account.
        more: ``passkey_name``, ``by_name`` of who reset it, or the number of codes ``left``.
    """
    record_change(person, change, more, principal)
    mail_change(person, change, address=address, **more)
