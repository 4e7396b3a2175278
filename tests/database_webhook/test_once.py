"""A change is published once: however often it is reported, whoever made it
(docs/database-webhook.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

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

pytestmark = pytest.mark.both


Body = dict[str, Any]


def _project(client: Client) -> str:
    made: str = make_project(client, geometry=square(size=0.01))["id"]
    return made


def _asset(client: Client) -> str:
    made: str = make_asset(client, _project(client), location=point())["id"]
    return made


SQL: dict[str, Callable[[Client], Body]] = {
    "a new project": lambda c: insert(c, "projects", geometry=boundary()),
    "a name": lambda c: change(c, "projects", _project(c), name="Other"),
    "a boundary": lambda c: change(c, "projects", _project(c), geometry=boundary(0.02)),
    "the same area": lambda c: change(
        c, "projects", _project(c), geometry=boundary() and _elsewhere()
    ),
    "a status": lambda c: change(c, "projects", _project(c), status="archived"),
    "an area": lambda c: change(c, "projects", _project(c), area_m2=1),
    "a deleted project": lambda c: delete(c, "projects", _project(c)),
    "a new asset": lambda c: insert(c, "assets", project_id=_project(c)),
    "a retired asset": lambda c: change(c, "assets", _asset(c), status="retired"),
    "a deleted asset": lambda c: delete(c, "assets", _asset(c)),
}


def _elsewhere() -> str:
    return str(square(20, 50, 0.01)).replace("'", '"')


@pytest.mark.parametrize("what", SQL)
def test_a_replay_is_ignored(client: Client, what: str) -> None:
    body = SQL[what](client)
    assert result(report(client, body)) == "applied"
    before = event_types(client)
    for _ in range(2):
        assert result(report(client, body)) == "ignored"
    assert event_types(client) == before


@pytest.mark.parametrize("what", SQL)
def test_replays_at_once_are_applied_once(client: Client, what: str) -> None:
    body = SQL[what](client)
    before = len(event_types(client))
    results = together(*[lambda: result(report(client, body))] * 5)
    assert sorted(results) == ["applied", *["ignored"] * 4]
    assert len(event_types(client)) <= before + (2 if what == "a retired asset" else 1)


@pytest.mark.parametrize("what", SQL)
def test_what_the_service_corrects_is_reported_too_and_ignored(client: Client, what: str) -> None:
    """The trigger fires for that UPDATE as well."""
    body = SQL[what](client)
    report(client, body)
    if body["type"] == "DELETE":
        return
    after = row_of(client, body["table"], body["record"]["id"])
    known = event_types(client)
    assert (
        result(report(client, report_of("UPDATE", body["table"], after, body["record"])))
        == "ignored"
    )
    assert event_types(client) == known


PROJECT_CHANGES: dict[str, tuple[str, str, Any]] = {
    "name": ("PUT", "", {"name": "Other"}),
    "all": ("PUT", "", {"name": "O", "description": "d", "geometry": square(1, 1, 0.2)}),
    "parts": ("PUT", "", {"geometry": multi_square((1, 1), (3, 3), size=0.01)}),
    "clockwise": (
        "PUT", "", {"geometry": {
            "type": "Polygon", "coordinates": [square(5, 5, 0.01)["coordinates"][0][::-1]],
        }},
    ),
    "no boundary": ("PUT", "", {"geometry": None}),
    "nothing": ("PUT", "", {}),
    "archive": ("POST", "/archive", None),
}  # fmt: skip


@pytest.mark.parametrize("what", PROJECT_CHANGES)
def test_what_the_service_did_to_a_project_is_ignored(client: Client, what: str) -> None:
    row_id = _project(client)
    created = report_of("INSERT", "projects", row_of(client, "projects", row_id), None)
    assert result(report(client, created)) == "ignored"
    method, path, body = PROJECT_CHANGES[what]
    before = row_of(client, "projects", row_id)
    client.send(method, f"/v1/projects/{row_id}{path}", json=body)
    after = row_of(client, "projects", row_id)
    known = events(client)
    assert result(report(client, report_of("UPDATE", "projects", after, before))) == "ignored"
    assert result(report(client, created)) == "ignored"  # it came late
    assert events(client) == known
    assert row_of(client, "projects", row_id) == after


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


def test_changes_that_are_reported_in_another_order_end_the_same(client: Client) -> None:
    row_id = _project(client)
    bodies = [change(client, "projects", row_id, name=name) for name in ("One", "Two", "Three")]
    assert [result(report(client, body)) for body in reversed(bodies)] == [
        "applied",
        "ignored",
        "ignored",
    ]
    assert events(client)[-1]["data"]["name"] == "Three"


def test_a_change_between_is_published_with_what_the_service_changes(client: Client) -> None:
    """SQL, then the API, then the report: the status is known, and only the boundary is not."""
    row_id = _project(client)
    body = change(client, "projects", row_id, name="Mine", geometry=boundary(0.02))
    client.put(f"/v1/projects/{row_id}", json={"description": "yours"})
    assert result(report(client, body)) == "applied"
    assert set(events(client)[-1]["data"]["changes"]) == {"geometry", "area_hectares"}


def test_a_row_that_comes_back_is_created_again(client: Client) -> None:
    row_id = _project(client)
    row = row_of(client, "projects", row_id)
    report(client, delete(client, "projects", row_id))
    del row["row"]
    body = insert(client, "projects", **row)
    for _ in range(2):
        report(client, body)
    kinds = ["project.created", "project.deleted", "project.created"]
    assert [kind for kind in event_types(client) if kind.startswith("project")] == kinds


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


# Events are forgotten after a time.


def _forget(client: Client) -> None:
    sql(client, "DELETE FROM events WHERE account_id = :account", account=client.account_id)


def test_without_an_event_a_change_is_what_was_reported_against_the_row(client: Client) -> None:
    row_id = _project(client)
    _forget(client)
    body = change(client, "projects", row_id, name="Other", geometry=boundary(0.02))
    assert result(report(client, body)) == "applied"
    (event,) = events(client)
    assert event["type"] == "project.updated"
    assert set(event["data"]["changes"]) == {"name", "geometry", "area_hectares"}
    assert result(report(client, body)) == "ignored"


def test_without_an_event_a_place_is_compared_by_its_text(client: Client) -> None:
    row_id = _project(client)
    moved = row_of(client, "projects", make_project(client, geometry=square(20, 50, 0.01))["id"])
    _forget(client)
    placed = {name: moved[name] for name in ("geometry", "west", "south", "east", "north")}
    body = change(client, "projects", row_id, **placed)
    assert result(report(client, body)) == "applied"
    assert set(events(client)[-1]["data"]["changes"]) == {"geometry", "area_hectares"}


@pytest.mark.parametrize("old_record", [None, {}, {"name": 5, "geometry": 7}])
def test_without_an_event_and_an_old_record_nothing_is_known(
    client: Client, old_record: Any
) -> None:
    row_id = _project(client)
    _forget(client)
    record = change(client, "projects", row_id, name="Other", name_key="other")["record"]
    body = report_of("UPDATE", "projects", record, old_record)
    assert result(report(client, body)) == "applied"  # the column for search was corrected
    assert events(client) == []
    assert result(report(client, body)) == "ignored"


def test_without_an_event_what_the_service_corrected_is_not_published(client: Client) -> None:
    row_id = _project(client)
    _forget(client)
    body = change(client, "projects", row_id, area_m2=1)
    assert result(report(client, body)) == "applied"
    after = row_of(client, "projects", row_id)
    assert (
        result(report(client, report_of("UPDATE", "projects", after, body["record"]))) == "ignored"
    )
    assert events(client) == []


def test_without_an_event_a_new_row_is_created(client: Client) -> None:
    row_id = _project(client)
    _forget(client)
    body = report_of("INSERT", "projects", row_of(client, "projects", row_id), None)
    assert result(report(client, body)) == "applied"
    assert event_types(client) == ["project.created"]


def test_without_an_event_a_deleted_row_is_published_as_it_was(client: Client) -> None:
    row_id = _project(client)
    _forget(client)
    body = delete(client, "projects", row_id)
    assert result(report(client, body)) == "applied"
    assert event_types(client) == ["project.deleted"]
    assert result(report(client, body)) == "ignored"


@pytest.mark.parametrize("left", [["id"], ["id", "account_id"], ["id", "account_id", "name"]])
def test_without_an_event_a_deleted_row_of_which_little_is_reported_is_ignored(
    client: Client, left: list[str]
) -> None:
    row_id = _project(client)
    _forget(client)
    row = delete(client, "projects", row_id)["old_record"]
    body = report_of("DELETE", "projects", None, {name: row[name] for name in left})
    assert result(report(client, body)) == "ignored"
    assert events(client) == []
