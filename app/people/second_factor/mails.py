"""Mails to a person about their second factor: what changed, when, and from where."""

from __future__ import annotations

from typing import Any, Final

from flask import current_app

from app.db.extensions import db
from app.mail.service import queue_mail
from app.models import User
from app.values import clock
from app.values.clock import format_time
from app.values.ids import new_id

CHANGED: Final = "second_factor_changed"
GUESSED: Final = "second_factor_guessed"

# Each change, and the subject of the mail about it.
TITLES: Final = {
    "on": "You turned on a second factor",
    "off": "Your second factor was turned off",
    "reset": "Your second factor was reset",
    "app": "Your authenticator app was replaced",
    "app_added": "An authenticator app was added",
    "app_removed": "Your authenticator app was removed",
    "passkey": "A passkey was added",
    "passkey_removed": "A passkey was removed",
    "codes": "You have new recovery codes",
    "code_used": "A recovery code was used",
}


def mail_change(person: User, change: str, *, address: str, **more: Any) -> None:
    """Tell a person of a change to their second factor.

    Args:
        change: one of ``TITLES``.
        address: the client's IP address; empty if somebody else made the change.
        more: ``passkey_name``, ``by_name`` of who reset it, or the number of codes ``left``.
    """
    here, nothing = current_app.config["SETTINGS"].public_url, {"passkey_name": "", "by_name": ""}
    values = {
        "change": change,
        "title": TITLES[change],
        "name": person.name,
        "when": format_time(clock.now()),
        "address": address,
        "left": 0,
        "factor_link": f"{here}/profile/second-factor",
        "reset_link": f"{here}/forgot-password",
    }
    cause = f"{CHANGED}:{new_id('mail')}"
    queue_mail(CHANGED, person.email, cause=cause, values=values | nothing | more)


def mail_guesses(user_id: str, address: str) -> None:
    """Tell a person, once an hour, that somebody who knows their password types wrong codes."""
    person, moment = db.session.get_one(User, user_id), clock.now()
    here = current_app.config["SETTINGS"].public_url
    values = {
        "name": person.name,
        "when": format_time(moment),
        "address": address,
        "reset_link": f"{here}/forgot-password",
    }
    cause = f"{GUESSED}:{user_id}:{moment:%Y-%m-%dT%H}"
    queue_mail(GUESSED, person.email, cause=cause, values=values)
