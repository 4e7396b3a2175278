"""Reporting a change of a second factor: to the audit log, and to the person by mail."""

from __future__ import annotations

from typing import Any, Final

from app.audit.entries import Changes, record
from app.auth.principal import Principal
from app.models import User
from app.people.auditing import record_entry
from app.people.second_factor.mails import mail_change

# The action for each change that is mailed (app.people.second_factor.mails).
_ACTIONS: Final = {
    "on": "person.second_factor_turned_on",
    "off": "person.second_factor_turned_off",
    "reset": "person.second_factor_reset",
    "app": "person.authenticator_added",
    "app_added": "person.authenticator_added",
    "app_removed": "person.authenticator_removed",
    "passkey": "person.passkey_added",
    "passkey_removed": "person.passkey_removed",
    "codes": "person.recovery_codes_made",
    "code_used": "person.recovery_code_used",
}


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
    _record(person, change, more, principal)
    mail_change(person, change, address=address, **more)


def _record(person: User, change: str, values: dict[str, Any], principal: Principal | None) -> None:
    action, changes = _ACTIONS[change], _changes(change, values)
    if principal is None:
        record_entry(action, person, changes, by_themselves=change != "reset")
    else:
        record(action, person, account_id=principal.account_id, principal=principal)


def _changes(change: str, values: dict[str, Any]) -> Changes | None:
    """What changed: the passkey by its name, or how many recovery codes are left."""
    name = values.get("passkey_name")
    if change == "passkey":
        return {"passkey": {"from": None, "to": name}}
    if change == "passkey_removed":
        return {"passkey": {"from": name, "to": None}}
    if change == "code_used":
        return {"recovery_codes": {"from": values["left"] + 1, "to": values["left"]}}
    return None
