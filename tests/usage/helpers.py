"""Helpers for usage tests: setting counters, and reading usage events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import update

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import AccountUsage
from tests.make import Client, events

ALL = [75, 90, 100, "over"]


def usage_events(client: Client) -> list[Any]:
    """The usage events so far: their thresholds, and "over" for an exceeded limit."""
    return [_name(each) for each in events(client) if each["type"].startswith("usage.")]


def _name(each: dict[str, Any]) -> Any:
    over = each["type"] == "usage.limit_exceeded"
    return "over" if over else each["data"]["threshold"]


def set_counters(client: Client, **counters: Any) -> None:
    """Set counters of the account without emitting events."""
    with client.app.app_context(), transaction():
        own = AccountUsage.account_id == client.account_id
        db.session.execute(update(AccountUsage).where(own).values(counters))


def levels(client: Client) -> tuple[int, int, int]:
    with client.app.app_context():
        row = db.session.get_one(AccountUsage, client.account_id)
        return row.hectares_level, row.members_level, row.requests_level


def in_transaction(client: Client, change: Callable[[], Any]) -> None:
    """Make a change in a transaction."""
    with client.app.app_context(), transaction():
        change()
