"""The entries of the audit log, as they are in the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.models import AuditEntry
from app.values.strict_json import loads
from tests.make.accounts import Client


def audit_entries(client: Client, account_id: str | None = None) -> list[dict[str, Any]]:
    """The entries of an account, by default the client's own, the oldest first."""
    return [
        each for each in _all(client.app) if each["account_id"] == (account_id or client.account_id)
    ]


@contextmanager
def new_entries(client: Client, *account_ids: str) -> Iterator[list[dict[str, Any]]]:
    """A list that has, after the block, the entries written in it, the oldest first.

    Args:
        account_ids: of further logs than the client's.
    """
    logs = (client.account_id, *account_ids)
    known = {each["id"] for each in _all(client.app)}
    found: list[dict[str, Any]] = []
    yield found
    found += [
        each for each in _all(client.app) if each["id"] not in known and each["account_id"] in logs
    ]


def _all(app: Flask) -> list[dict[str, Any]]:
    with app.app_context():
        bodies = db.session.scalars(select(AuditEntry.body).order_by(AuditEntry.id)).all()
        db.session.rollback()
    return [loads(body.encode()) for body in bodies]
