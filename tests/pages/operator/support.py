"""Operators and their browsers."""

from __future__ import annotations

from typing import Any

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import User
from tests.make import Browser, Client, make_operator, signed_in_browser


def operator_browser(client: Client, *, confirmed: bool = True) -> Browser:
    """The browser of the account's owner, who is made an operator.

    Args:
        confirmed: whether they have given their password within the last minutes.
    """
    user_id = make_operator(client)
    return signed_in_browser(client.app, user_id, client.account_id, confirmed=confirmed)


def change_person(client: Client, user_id: str, **columns: Any) -> None:
    """Change columns of a person, as SQL would."""
    with client.app.app_context(), transaction():
        person = db.session.get_one(User, user_id)
        for name, value in columns.items():
            setattr(person, name, value)
