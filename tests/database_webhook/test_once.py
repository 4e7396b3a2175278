"""A change is published once: however often it is reported, whenever, and whoever made it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.database_webhook.tables import ReportedTable
from tests.database_webhook.reports import (
    boundary,
    change,
    delete,
    insert,
    report,
    report_of,
    row_of,
    sql,
)
from tests.make import (
    Client,
    event_types,
    events,
    make_asset,
    make_project,
    multi_square,
    point,
    square,
    together,
)
from tests.make.signed import result
from tests.ogc.reading import names

Body = dict[str, Any]


def _project(client: Client) -> str:
    made: str = make_project(client, geometry=square(size=0.01))["id"]
    return made


def _asset(client: Client) -> str:
    made: str = make_asset(client, _project(client), location=point())["id"]
    return made


SQL: dict[str, Callable[[Client], Body]] = {
    "a new project": lambda c: insert(c, "projects", geometry=boundary()),
    "a boundary": lambda c: change(c, "projects", _project(c), geometry=boundary(0.02)),
    "an area": lambda c: change(c, "projects", _project(c), area_m2=1),
    "a deleted project": lambda c: delete(c, "projects", _project(c)),
    "a retired asset": lambda c: change(c, "assets", _asset(c), status="retired"),
}


@pytest.mark.both
@pytest.mark.parametrize("what", SQL)
def test_a_change_that_is_reported_repeatedly_is_applied_once(client: Client, what: str) -> None:
    body = SQL[what](client)
    before = len(event_types(client))
    results = together(*[lambda: result(report(client, body))] * 5)
    assert sorted(results) == ["applied", *["ignored"] * 4]
    known = event_types(client)
    assert len(known) == before + {"an area": 0, "a retired asset": 2}.get(what, 1)
    assert result(report(client, body)) == "ignored"
    if body["type"] != "DELETE":  # the trigger fires for the columns that were corrected, too
        corrected = row_of(client, body["table"], body["record"]["id"])
        body = report_of("UPDATE", body["table"], corrected, body["record"])
        assert result(report(client, body)) == "ignored"
    assert event_types(client) == known


@pytest.mark.both
def test_what_the_service_did_to_a_project_is_ignored(client: Client) -> None:
    row_id = _project(client)
    created = report_of("INSERT", "projects", row_of(client, "projects", row_id), None)
    assert result(report(client, created)) == "ignored"
    clockwise = [square(5, 5, 0.01)["coordinates"][0][::-1]]
    for method, path, body in [
        ("PUT", "", {"name": "Other"}),
        ("PUT", "", {"geometry": multi_square((1, 1), (3, 3), size=0.01)}),
        ("PUT", "", {"geometry": {"type": "Polygon", "coordinates": clockwise}}),
        ("PUT", "", {"geometry": None}),
        ("POST", "/archive", None),
    ]:
        before = row_of(client, "projects", row_id)
        client.send(method, f"/v1/projects/{row_id}{path}", json=body)
        after = row_of(client, "projects", row_id)
        known = events(client)
        assert result(report(client, report_of("UPDATE", "projects", after, before))) == "ignored"
        assert result(report(client, created)) == "ignored"  # it came late
        assert events(client) == known
        assert row_of(client, "projects", row_id) == after


@pytest.mark.both
def test_what_the_service_did_to_an_asset_is_ignored(client: Client) -> None:
    row_id = _asset(client)
    first = row_of(client, "assets", row_id)
    path = f"/v1/projects/{first['project_id']}/assets/{row_id}"
    bodies = [report_of("INSERT", "assets", first, None)]
    for body in (
        {"status": "retired"},
        {"location": point(1.5, 2)},
        {"metadata": {"b": 1, "a": 2}},
    ):
        before = row_of(client, "assets", row_id)
        client.put(path, json=body)
        bodies.append(report_of("UPDATE", "assets", row_of(client, "assets", row_id), before))
    last = row_of(client, "assets", row_id)
    client.delete(path)
    bodies.append(report_of("DELETE", "assets", None, last))
    known = events(client)
    assert [result(report(client, body)) for body in bodies] == ["ignored"] * 5
    assert events(client) == known


def test_what_the_service_deleted_is_ignored(client: Client) -> None:
    asset = row_of(client, "assets", _asset(client))
    path = f"/v1/projects/{asset['project_id']}"
    client.post(f"{path}/archive")
    project = row_of(client, "projects", asset["project_id"])
    client.delete(path)
    known = events(client)
    for table, row in (("assets", asset), ("projects", project)):
        assert result(report(client, report_of("DELETE", table, None, row))) == "ignored"
    assert events(client) == known


def test_changes_that_are_reported_in_another_order_are_published_together(client: Client) -> None:
    row_id = _project(client)
    bodies = [change(client, "projects", row_id, name=name) for name in ("One", "Two", "Three")]
    results = [result(report(client, body)) for body in reversed(bodies)]
    assert results == ["applied", "ignored", "ignored"]
    assert events(client)[-1]["data"]["name"] == "Three"


def test_a_change_that_is_reported_after_one_of_the_service(client: Client) -> None:
    """The service's event has the new name, and the boundary is not known yet."""
    row_id = _project(client)
    body = change(client, "projects", row_id, name="Mine", geometry=boundary(0.02))
    client.put(f"/v1/projects/{row_id}", json={"description": "yours"})
    assert result(report(client, body)) == "applied"
    assert set(events(client)[-1]["data"]["changes"]) == {"geometry", "area_hectares"}


def test_a_change_that_an_event_of_the_service_has_published_is_counted(client: Client) -> None:
    row_id = _project(client)
    body = change(client, "projects", row_id, status="archived")
    client.put(f"/v1/projects/{row_id}", json={"description": "yours"})
    assert result(report(client, body)) == "ignored"
    usage = client.get("/v1/account/usage").json["data"]
    assert (usage["projects"]["active"], usage["projects"]["archived"]) == (0, 1)
    assert usage["hectares"]["current"] == 0


def test_a_new_row_that_is_reported_after_its_changes_is_created(client: Client) -> None:
    new = insert(client, "projects", geometry=boundary())
    row_id = new["record"]["id"]
    client.put(f"/v1/projects/{row_id}", json={"name": "New"})
    other = change(client, "projects", row_id, name="Other")
    for body in (other, new, new, other):
        report(client, body)
    assert event_types(client) == ["project.updated"] * 2 + ["project.created"]


def test_an_event_of_an_earlier_version_can_lack_a_field(client: Client) -> None:
    row_id = _project(client)
    lacking = "UPDATE events SET body = replace(body, :member, '') WHERE subject_id = :id"
    sql(client, lacking, id=row_id, member='"external_id":null,')
    body = change(client, "projects", row_id, name="Other", external_id="1")
    assert result(report(client, body)) == "applied"
    assert set(events(client)[-1]["data"]["changes"]) == {"name"}


@pytest.mark.both
def test_a_change_after_the_row_was_read_is_not_overwritten(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Boundaries are validated before the row is locked."""
    row_id = _project(client)
    body = change(client, "projects", row_id, name="Early", geometry=boundary(0.02))
    complete = ReportedTable.stored_columns

    def disturbed(table: ReportedTable, written: dict[str, Any]) -> dict[str, Any]:
        columns = complete(table, written)
        if written["name"] == "Early":
            together(lambda: change(client, "projects", row_id, name="Late"))
        return columns

    monkeypatch.setattr(ReportedTable, "stored_columns", disturbed)
    assert result(report(client, body)) == "applied"
    row = row_of(client, "projects", row_id)
    assert (row["name"], row["name_key"]) == ("Late", "late")


@pytest.mark.both
def test_a_report_waits_for_the_change_that_it_is_of(client: Client) -> None:
    """The service has not committed yet: the report of the trigger comes first."""
    row_id = _project(client)
    before = row_of(client, "projects", row_id)
    body = report_of("UPDATE", "projects", before | {"name": "Other"}, before)

    def put() -> str:
        client.put(f"/v1/projects/{row_id}", json={"name": "Other"})
        return "done"

    results = together(put, *[lambda: result(report(client, body))] * 3)
    assert set(results) == {"done", "ignored"}
    assert event_types(client) == ["project.created", "project.updated"]


# Events are kept for a time only.


def _forget(client: Client) -> None:
    sql(client, "DELETE FROM events WHERE account_id = :account", account=client.account_id)


@pytest.mark.both
def test_without_an_event_a_row_is_compared_with_what_was_reported(client: Client) -> None:
    row_id = _project(client)
    _forget(client)
    body = change(client, "projects", row_id, name="Other", geometry=boundary(0.02))
    assert result(report(client, body)) == "applied"
    (event,) = events(client)
    assert event["type"] == "project.updated"
    assert set(event["data"]["changes"]) == {"name", "geometry", "area_hectares"}
    assert result(report(client, body)) == "ignored"


def test_without_an_event_a_new_row_is_created(client: Client) -> None:
    row_id = _project(client)
    _forget(client)
    body = report_of("INSERT", "projects", row_of(client, "projects", row_id), None)
    assert result(report(client, body)) == "applied"
    assert event_types(client) == ["project.created"]


def test_without_an_event_a_deleted_row_is_published_as_it_was_reported(client: Client) -> None:
    row_id = _project(client)
    _forget(client)
    body = delete(client, "projects", row_id)
    assert [result(report(client, body)) for _ in range(2)] == ["applied", "ignored"]
    assert event_types(client) == ["project.deleted"]


def test_without_an_event_and_a_whole_row_a_deletion_is_counted_only(client: Client) -> None:
    row_id = _project(client)
    _forget(client)
    assert len(names(client)) == 1  # of /ogc, whose pages are kept
    row = delete(client, "projects", row_id)["old_record"]
    body = report_of("DELETE", "projects", None, {name: row[name] for name in ("id", "account_id")})
    assert result(report(client, body)) == "ignored"
    assert events(client) == []
    assert names(client) == []
    assert client.get("/v1/account/usage").json["data"]["projects"]["total"] == 0
