"""Entries of the audit log about tokens."""

from __future__ import annotations

from typing import Any

from app.audit.entries import Target, record
from app.audit.origin import Actor
from app.db.extensions import db
from app.models import User
from app.oauth.clients import Client


def enter_revoked_token(found: Any, client: Client) -> None:
    """Enter that an application has revoked a token with which it acted for a person.

    Args:
        found: the token's row, as ``app.oauth.issuing.find_token`` gives it.
    """
    email = db.session.get_one(User, found.user_id).email
    record(
        "application.token_revoked",
        Target("member", found.user_id, email),
        account_id=found.account_id,
        actor=Actor("application", client.id, client.name),
    )
