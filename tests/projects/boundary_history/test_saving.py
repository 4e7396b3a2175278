"""Boundaries from before there was a history, and those that were changed with SQL and never
reported."""

from __future__ import annotations

from typing import Any

import pytest

from app.db.transactions import transaction
from app.usage.counters import read_counters, recount_usage
from tests.database_webhook.reports import boundary, change, insert
from tests.make import Client, make_project, square
from tests.projects.boundaries.history import put

pytestmark = pytest.mark.both


def stored_bytes(client: Client) -> list[int]:
    """The counter of stored bytes, before and after it is counted again."""
    with client.app.app_context():
        found = read_counters(client.account_id).stored_bytes
        with transaction():
            recount_usage(client.account_id)
        return [found, read_counters(client.account_id).stored_bytes]


@pytest.mark.parametrize("geometry", [square(size=0.3), None])
def test_bytes_are_counted_right_after_unreported_changes(client: Client, geometry: Any) -> None:
    changed = make_project(client, geometry=square(size=0.1), metadata={"a": 1})
    change(client, "projects", changed["id"], geometry=boundary(0.15))
    inserted = {"id": insert(client, "projects", geometry=boundary(0.1))["record"]["id"]}
    stored_bytes(client)
    for project in (changed, inserted):
        put(client, project, geometry=geometry)
    before, after = stored_bytes(client)
    assert before == after
