"""Rows that were moved to another account with SQL: nothing of one account reaches the other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.database_webhook.reports import Row, boundary, change, delete, report, row_of
from tests.make import Client, event_types, events, make_asset, make_project, square
from tests.make.audit import new_entries
from tests.make.signed import result
from tests.projects.boundaries.history import boundaries, geometry_of, put


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, name="Oak", geometry=square(size=0.01))


@pytest.mark.both
@pytest.mark.parametrize("table", ["projects", "assets"])
def test_the_report_is_rejected(
    client: Client, stranger: Client, project: dict[str, Any], table: str
) -> None:
    row_id = project["id"] if table == "projects" else make_asset(client, project["id"])["id"]
    known = events(client)
    body = change(client, table, row_id, account_id=stranger.account_id, name="Elm")
    with new_entries(client, stranger.account_id) as entries:
        response = report(client, body)
    assert response.status_code == 422
    assert [each["field"] for each in response.json["error"]["details"]] == ["account_id"]
    assert (events(client), events(stranger), entries) == (known, [], [])
    assert row_of(client, table, row_id) == body["record"]


def _without_account(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "account_id"}


@pytest.mark.parametrize("reported", [lambda _: None, _without_account])
def test_its_former_account_is_not_shown_to_the_new_one(
    client: Client, stranger: Client, project: dict[str, Any], reported: Any
) -> None:
    body = change(
        client, "projects", project["id"],
        account_id=stranger.account_id, name="Elm", geometry=boundary(0.015),
    )  # fmt: skip
    body["old_record"] = reported(body["old_record"])
    with new_entries(stranger) as entries:
        assert result(report(client, body)) == "applied"
    assert events(stranger) == []
    assert [each["changes"] for each in entries] == [None]
    (present,) = boundaries(stranger, project)
    assert geometry_of(stranger, project, present) == square(size=0.015)
    put(stranger, project, geometry=square(size=0.02))
    assert len(boundaries(stranger, project)) == 2


@pytest.mark.both
def test_its_deletion_is_published_to_the_account_that_it_was_deleted_from(
    client: Client, stranger: Client, project: dict[str, Any]
) -> None:
    change(client, "projects", project["id"], account_id=stranger.account_id, name="Elm")
    assert result(report(client, delete(client, "projects", project["id"]))) == "applied"
    assert event_types(client) == ["project.created"]
    assert [each["data"]["name"] for each in events(stranger)] == ["Elm"]
