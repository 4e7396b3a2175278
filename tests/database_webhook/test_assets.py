"""Assets that were changed with SQL (docs/database-webhook.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.values.folding import searchable_text
from tests.database_webhook.reports import change, delete, insert, report, report_of, row_of
from tests.make import Client, event_types, events, make_asset, make_project, point
from tests.make.signed import result
from tests.projects.large_project import LargeProject, make_batches_small


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client)


@pytest.fixture
def asset(client: Client, project: dict[str, Any]) -> dict[str, Any]:
    metadata = {"height": 40, "checked": True}
    return make_asset(client, project["id"], name="Mast", location=point(), metadata=metadata)


def _path(asset: dict[str, Any]) -> str:
    return f"/v1/projects/{asset['project_id']}/assets/{asset['id']}"


def _actor(client: Client) -> dict[str, str]:
    return events(client)[0]["data"]["created_by"]


@pytest.mark.both
def test_an_asset_that_was_put_in_is_as_if_the_service_had_made_it(
    client: Client, project: dict[str, Any]
) -> None:
    location = json.dumps(point(12.5, 45.25), indent=1)
    body = insert(client, "assets", project_id=project["id"], name="Grüner Mast", location=location)
    assert result(report(client, body)) == "applied"
    row = row_of(client, "assets", body["record"]["id"])
    assert row["location"] == '{"type":"Point","coordinates":[12.5,45.25]}'
    assert (row["longitude"], row["latitude"]) == (12.5, 45.25)
    assert row["search_text"] == searchable_text("Grüner Mast")
    shown = client.get(_path(row)).json["data"]
    event = events(client)[-1]
    assert event["type"] == "asset.created"
    assert event["data"] == shown | {"created_by": _actor(client)}
    listed = client.get(f"/v1/projects/{project['id']}/assets?search=grüner&bbox=12,45,13,46")
    assert listed.json["meta"]["total"] == 1


@pytest.mark.both
def test_what_differs_are_the_changes(client: Client, asset: dict[str, Any]) -> None:
    metadata = {"height": 40, "checked": True}
    for column, value, before, after in [
        ("name", "Tower", "Mast", "Tower"),
        ("location", json.dumps(point(11, 51), indent=1), point(), point(11, 51)),
        ("location", None, point(11, 51), None),
        ("external_id", " M-1 ", None, "M-1"),
        ("metadata", '{"height": 40, "checked": 1}', metadata, metadata | {"checked": 1}),
        ("metadata", None, metadata | {"checked": 1}, None),
    ]:
        body = change(client, "assets", asset["id"], **{column: value})
        assert result(report(client, body)) == "applied"
        event = events(client)[-1]
        assert event["type"] == "asset.updated"
        changes = {"changes": {column: {"from": before, "to": after}}}
        shown = client.get(_path(asset)).json["data"]
        assert event["data"] == shown | changes | {"updated_by": _actor(client)}


def test_a_new_status_is_told_twice_and_the_next_change_is_compared_with_it(
    client: Client, asset: dict[str, Any]
) -> None:
    """Such a change has two events, of which asset.status_changed is the last."""
    report(client, change(client, "assets", asset["id"], status="retired", name="Mast 1"))
    updated, moved = events(client)[-2:]
    assert (updated["type"], moved["type"]) == ("asset.updated", "asset.status_changed")
    assert set(updated["data"]["changes"]) == {"status", "name"}
    shown = client.get(_path(asset)).json["data"]
    by = {"updated_by": _actor(client)}
    assert moved["data"] == shown | {"previous_status": "active"} | by
    report(client, change(client, "assets", asset["id"], status="active"))
    assert events(client)[-1]["data"]["previous_status"] == "retired"
    body = change(client, "assets", asset["id"], name="Tower")
    report(client, body)
    assert set(events(client)[-1]["data"]["changes"]) == {"name"}
    assert result(report(client, body)) == "ignored"


def test_columns_in_another_form_are_corrected_and_not_published(
    client: Client, asset: dict[str, Any]
) -> None:
    before = row_of(client, "assets", asset["id"])
    metadata = json.dumps(asset["metadata"], indent=1)
    wrong = {"longitude": 1, "latitude": 2, "search_text": "x", "metadata": metadata}
    assert result(report(client, change(client, "assets", asset["id"], **wrong))) == "applied"
    assert event_types(client)[-1] == "asset.created"
    after = row_of(client, "assets", asset["id"])
    assert {name for name in after if after[name] != before[name]} == {"updated_at"}


@pytest.mark.both
def test_a_deleted_asset(client: Client, asset: dict[str, Any]) -> None:
    assert result(report(client, delete(client, "assets", asset["id"]))) == "applied"
    event = events(client)[-1]
    assert event["type"] == "asset.deleted"
    assert event["data"] == asset | {"deleted_by": _actor(client)}


def test_assets_go_with_their_project(client: Client, asset: dict[str, Any]) -> None:
    row = row_of(client, "assets", asset["id"])
    body = delete(client, "projects", asset["project_id"])
    assert result(report(client, report_of("DELETE", "assets", None, row))) == "ignored"
    assert result(report(client, body)) == "applied"
    assert event_types(client)[-2:] == ["asset.created", "project.deleted"]


def test_assets_of_a_deleted_project_go_one_by_one_without_a_word(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service deletes the rows of a large project in batches, which a trigger reports."""
    make_batches_small(monkeypatch)
    large = LargeProject(client)
    asset, before = (
        row_of(client, *row) for row in (("assets", large.asset), ("projects", large.gone))
    )
    large.delete()
    known = event_types(client)
    marked = report_of("UPDATE", "projects", row_of(client, "projects", large.gone), before)
    bodies = [marked, report_of("DELETE", "assets", None, asset)]
    delete(client, "assets", large.asset)
    assert [result(report(client, body)) for body in bodies] == ["ignored", "ignored"]
    assert large.wrong_counters() == []
    large.run_job()
    for table, row in (("assets", asset), ("projects", before)):
        assert result(report(client, report_of("DELETE", table, None, row))) == "ignored"
    assert event_types(client) == known
