"""Reporting changes of a second factor: to the audit log, and to the person by mail."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from app.audit.entries import Changes, write_entry
from app.auth.principal import Principal
from app.db.extensions import db
from app.mail.service import queue_mail
from app.models import User
from app.people.auditing import write_person_entry
from app.settings.current import current_settings
from app.values import clock
from app.values.clock import format_time
from app.values.ids import new_id

_CHANGED: Final = "second_factor_changed"
_GUESSED: Final = "second_factor_guessed"


class SecondFactorChange(NamedTuple):
    """The action of the audit log for a change, and the subject of the mail about it."""

    action: str
    title: str


_ADDED: Final = "person.authenticator_added"
CHANGES: Final = {
    "on": SecondFactorChange("person.second_factor_turned_on", "You turned on a second factor"),
    "off": SecondFactorChange(
        "person.second_factor_turned_off", "Your second factor was turned off"
    ),
    "reset": SecondFactorChange("person.second_factor_reset", "Your second factor was reset"),
    "app": SecondFactorChange(_ADDED, "Your authenticator app was replaced"),
    "app_added": SecondFactorChange(_ADDED, "An authenticator app was added"),
    "app_removed": SecondFactorChange(
        "person.authenticator_removed", "Your authenticator app was removed"
    ),
    "passkey": SecondFactorChange("person.passkey_added", "A passkey was added"),
    "passkey_removed": SecondFactorChange("person.passkey_removed", "A passkey was removed"),
    "codes": SecondFactorChange("person.recovery_codes_made", "You have new recovery codes"),
    "code_used": SecondFactorChange("person.recovery_code_used", "A recovery code was used"),
}


def report_change(
    person: User, change: str, *, address: str, principal: Principal | None = None, **more: Any
) -> None:
    """Write the entry of a change, and mail it to the person.

    Args:
        change: one of ``CHANGES``.
        address: the client's IP address; empty if somebody else made the change.
        principal: the owner who resets it in their account.
        more: ``passkey_name``, ``by_name`` of who reset it, or the number of codes ``left``.
    """
    _log_factor_change(person, change, more, principal)
    _mail_change(person, change, address=address, **more)


def mail_guesses(user_id: str, address: str) -> None:
    """Mail a person, at most once an hour, that somebody with their password types wrong codes."""
    person, now = db.session.get_one(User, user_id), clock.now()
    here = current_settings().public_url
    values = {
        "name": person.name,
        "when": format_time(now),
        "address": address,
        "reset_link": f"{here}/forgot-password",
    }
    cause = f"{_GUESSED}:{user_id}:{now:%Y-%m-%dT%H}"
    queue_mail(_GUESSED, person.email, cause=cause, values=values)


def _log_factor_change(
    person: User, change: str, values: dict[str, Any], principal: Principal | None
) -> None:
    action, changes = CHANGES[change].action, _entry_changes(change, values)
    if principal is None:
        write_person_entry(action, person, changes, by_themselves=change != "reset")
    else:
        write_entry(action, person, account_id=principal.account_id, principal=principal)


def _entry_changes(change: str, values: dict[str, Any]) -> Changes | None:
    """The changes of an entry: the passkey's name, or the number of recovery codes left."""
    name = values.get("passkey_name")
    if change == "passkey":
        return {"passkey": {"from": None, "to": name}}
    if change == "passkey_removed":
        return {"passkey": {"from": name, "to": None}}
    if change == "code_used":
        return {"recovery_codes": {"from": values["left"] + 1, "to": values["left"]}}
    return None


def _mail_change(person: User, change: str, *, address: str, **more: Any) -> None:
    here, nothing = current_settings().public_url, {"passkey_name": "", "by_name": ""}
    values = {
        "change": change,
        "title": CHANGES[change].title,
        "name": person.name,
        "when": format_time(clock.now()),
        "address": address,
        "left": 0,
        "factor_link": f"{here}/profile/second-factor",
        "reset_link": f"{here}/forgot-password",
    }
    cause = f"{_CHANGED}:{new_id('mail')}"
    queue_mail(_CHANGED, person.email, cause=cause, values=values | nothing | more)
