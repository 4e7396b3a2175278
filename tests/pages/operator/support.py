"""Operators and their browsers."""

from __future__ import annotations

from typing import Any

from app.auth.sessions import start_session
from app.db.extensions import db
from app.models import User
from tests.make import Browser, Client, make_operator


def operator_browser(client: Client, *, confirmed: bool = True) -> Browser:
    """The browser of the account's owner, who is made an operator.

    Args:
        confirmed: whether they have given their password within the last minutes.
    """
    user_id = make_operator(client)
    with client.app.app_context():
        token = start_session(
            user_id, client.account_id, address="", browser="", confirmed=confirmed
        )
        db.session.commit()
    browser = Browser(client.app)
    browser.client.set_cookie("canopy_session", token)
    return browser


def change_person(client: Client, user_id: str, **columns: Any) -> None:
    """Change columns of a person, as SQL would."""
    with client.app.app_context():
        person = db.session.get_one(User, user_id)
        for name, value in columns.items():
            setattr(person, name, value)
        db.session.commit()
