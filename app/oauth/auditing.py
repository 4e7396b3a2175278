"""Entries of the audit log about tokens and codes."""

from __future__ import annotations

from typing import Any

from app.audit.entries import record
from app.audit.origin import Actor
from app.audit.targets import Target
from app.db.extensions import db
from app.models import User
from app.oauth.clients import Client


def record_entry(action: str, found: Any, client: Client) -> None:
    """Record what an application has done with a token or code with which it acts for a person.

    Args:
        found: the row of the token or code, with ``account_id`` and ``user_id``.
    """
    email = db.session.get_one(User, found.user_id).email
    record(
        action,
        Target("member", found.user_id, email),
        account_id=found.account_id,
        actor=Actor("application", client.id, client.name),
    )
