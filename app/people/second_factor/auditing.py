"""Entries of the audit log about second factors."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from app.audit.entries import Changes, Target, record
from app.auth.principal import Principal
from app.models import Account, User
from app.people.auditing import record_entry

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


class _Subject(NamedTuple):
    """Whom an entry is about."""

    id: str
    email: str


def record_change(
    person: User, change: str, values: dict[str, Any], principal: Principal | None
) -> None:
    """Record a change of a person's second factor.

    Args:
        values: what its mail says about it.
        principal: the owner who resets it; None: the person changes it, or the operator.
    """
    action, changes = _ACTIONS[change], _changes(change, values)
    if principal is None:
        record_entry(action, person, changes, by_themselves=change != "reset")
        return
    target = Target("person", person.id, person.email)
    record(action, target, account_id=principal.account_id, principal=principal)


def record_refusal(user_id: str, email: str) -> None:
    """Record that somebody gave a wrong second factor after the right password."""
    subject = _Subject(user_id, email)
    record_entry("person.second_factor_refused", subject, by_themselves=True, refused=True)


def record_requirement(account: Account, former: int | None, days: int | None) -> None:
    """Record that an account requires a second factor within ``days``; None: no longer."""
    action = f"account.second_factor_{'not_' if days is None else ''}required"
    changes = {"second_factor_grace_days": {"from": former, "to": days}}
    target = Target("account", account.id, account.name)
    record(action, target, account_id=account.id, changes=changes)


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
