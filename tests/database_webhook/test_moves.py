"""A row that was moved to another account with SQL: for the one it is gone, for the other new."""

from __future__ import annotations

from typing import Any

import pytest

from tests.database_webhook.reports import Row, change, report, sql
from tests.make import (
    Client,
    audit_entries,
    event_types,
    events,
    make_asset,
    make_project,
    together,
)
from tests.make.audit import new_entries
from tests.make.signed import result

pytestmark = pytest.mark.both


def moved(client: Client, other: Client, kind: str) -> tuple[Row, dict[str, Any]]:
    """The report of a project or an asset that was moved, and its record before."""
    record = project = make_project(client, name="Oak")
    if kind == "asset":
        record = make_asset(client, project["id"], name="Mast")
    body = change(client, f"{kind}s", record["id"], account_id=other.account_id)
    return body, record


def told(client: Client, row_id: str) -> tuple[list[str], list[str]]:
    """The actions in the log, and the types of the events, about a row."""
    entries = [each for each in audit_entries(client) if each["target"]["id"] == row_id]
    published = [each for each in events(client) if each["data"].get("id") == row_id]
    return [each["action"] for each in entries], [each["type"] for each in published]


@pytest.mark.parametrize("kind", ["project", "asset"])
def test_both_accounts_are_told(client: Client, stranger: Client, kind: str) -> None:
    body, record = moved(client, stranger, kind)
    row_id = record["id"]
    with new_entries(client, stranger.account_id) as found:
        assert result(report(client, body)) == "applied"
    assert told(client, row_id) == tuple([[f"{kind}.created", f"{kind}.deleted"]] * 2)
    assert told(stranger, row_id) == tuple([[f"{kind}.created"]] * 2)
    labels = {(each["actor"]["label"], each["target"]["label"]) for each in found}
    assert labels == {("Database", record["name"])}


def test_it_is_told_once(client: Client, stranger: Client) -> None:
    body, record = moved(client, stranger, "project")
    together(*[lambda: report(client, body)] * 3)
    assert result(report(client, body)) == "ignored"
    assert told(client, record["id"])[1] == ["project.created", "project.deleted"]
    assert told(stranger, record["id"])[1] == ["project.created"]


def test_there_and_back(client: Client, stranger: Client) -> None:
    body, record = moved(client, stranger, "project")
    report(client, body)
    back = change(client, "projects", record["id"], account_id=client.account_id, name="Yew")
    report(client, back)
    both = ["project.created", "project.deleted"]
    assert told(client, record["id"]) == ([*both, both[0]],) * 2
    assert told(stranger, record["id"]) == (both, both)
    assert events(stranger)[-1]["data"]["name"] == "Oak"
    assert client.get(f"/v1/projects/{record['id']}").json["data"]["name"] == "Yew"


def test_a_report_without_the_former_row_is_enough(client: Client, stranger: Client) -> None:
    body, record = moved(client, stranger, "project")
    body["old_record"] = None
    assert result(report(client, body)) == "applied"
    assert told(client, record["id"])[1] == ["project.created", "project.deleted"]


def test_once_its_events_are_no_longer_kept_the_report_says_where_it_was(
    client: Client, stranger: Client
) -> None:
    body, record = moved(client, stranger, "project")
    sql(client, "DELETE FROM events WHERE account_id = :id", id=client.account_id)
    assert result(report(client, body)) == "applied"
    assert told(client, record["id"])[1] == ["project.deleted"]
    assert told(stranger, record["id"])[1] == ["project.created"]
    assert result(report(client, body)) == "ignored"


@pytest.mark.parametrize("former", ["acct_01arz3ndektsv4rrffq69g5fav", "x", None, 5])
def test_a_former_account_that_does_not_exist_is_told_nothing(
    client: Client, stranger: Client, former: Any
) -> None:
    body, record = moved(client, stranger, "project")
    sql(client, "DELETE FROM events WHERE account_id = :id", id=client.account_id)
    body["old_record"] |= {"account_id": former, "name": "Elm"}
    assert result(report(client, body)) == "applied"
    assert event_types(client) == []
    assert told(stranger, record["id"])[1] == ["project.updated"]
