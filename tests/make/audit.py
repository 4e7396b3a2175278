"""Entries of the audit log: made, and as they are in the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from sqlalchemy import select

from app.audit.entries import write_entry
from app.audit.origin import Actor, Via, acting_as
from app.audit.targets import Target
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import AuditCheckpoint, AuditEntry
from app.values import clock
from app.values.strict_json import loads
from tests.make.accounts import Client
from tests.make.geometry import square
from tests.make.resources import make_project

ANA = Actor("person", "user_01arz3ndektsv4rrffq69g5fav", "ana@forest.example.org")


def audit_entries(client: Client, account_id: str | None = None) -> list[dict[str, Any]]:
    """The entries of an account, by default the client's own, the oldest first."""
    bodies = _bodies(client.app, account_id or client.account_id)
    return [loads(body.encode()) for body in bodies.values()]


@contextmanager
def new_entries(client: Client, *account_ids: str) -> Iterator[list[dict[str, Any]]]:
    """A list that has, after the block, the entries written in it, the oldest first.

    Args:
        account_ids: of further logs than the client's.
    """
    logs = (client.account_id, *account_ids)
    known = _bodies(client.app, *logs)
    found: list[dict[str, Any]] = []
    yield found
    bodies = _bodies(client.app, *logs)
    found += [loads(body.encode()) for entry_id, body in bodies.items() if entry_id not in known]


def make_boundary_entry(client: Client) -> str:
    """Change the boundary of a project. Returns the id of the entry."""
    project = make_project(client, geometry=square())
    changed = client.put(f"/v1/projects/{project['id']}", {"geometry": square(size=0.2)})
    assert changed.status_code == 200, changed.json
    return str(audit_entries(client)[-1]["id"])


def make_entry(
    client: Client,
    action: str = "project.updated",
    target: Target | None = None,
    *,
    actor: Actor = ANA,
    via: Via | None = None,
    **values: Any,
) -> str:
    """Write an entry into the account's log. Returns its id.

    Args:
        target: by default, something that does not exist.
        values: of ``app.audit.entries.write_entry``.
    """
    target = target or Target(action.partition(".")[0], None, "Hazel dell")
    with client.app.app_context(), acting_as(actor, via or Via(ip="203.0.113.7")), transaction():
        return write_entry(action, target, account_id=client.account_id, **values)


def make_checkpoint(client: Client, number: int, **columns: Any) -> None:
    """Put in a checkpoint of the account's log, as if its entries had been sealed."""
    values = {"first": 1, "last": 1, "previous_hash": "0" * 64, "hash": f"{number}" * 64}
    with client.app.app_context(), transaction():
        db.session.add(
            AuditCheckpoint(
                account_id=client.account_id,
                number=number,
                sealed_at=clock.now(),
                key_id="sk_01arz3ndektsv4rrffq69g5fav",
                signature="bm8gc2lnbmF0dXJl",
                **values | columns,
            )
        )


def _bodies(app: Flask, *account_ids: str) -> dict[str, str]:
    """The text of each entry in these logs, by its id."""
    entries = select(AuditEntry.id, AuditEntry.body).where(AuditEntry.account_id.in_(account_ids))
    with app.app_context():
        rows = db.session.execute(entries.order_by(AuditEntry.id)).all()
    return {row.id: row.body for row in rows}
