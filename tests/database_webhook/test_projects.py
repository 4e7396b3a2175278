"""Projects that were changed with SQL (docs/database-webhook.md)."""

from __future__ import annotations

from typing import Any

import pytest

from app.db.extensions import db
from app.db.transactions import transaction
from app.geometry import read_boundary
from app.models import AccountUsage
from app.values.folding import fold_text, searchable_text
from tests.database_webhook.reports import (
    boundary,
    change,
    delete,
    insert,
    report,
    report_of,
    row_of,
)
from tests.make import Client, event_types, events, make_project, square, together
from tests.make.audit import new_entries
from tests.make.signed import result
from tests.ogc.reading import names

NOT_IN_EVENTS = ("geometry", "country")


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, name="Wald", description="old", geometry=square(size=0.01))


def counters(client: Client) -> tuple[int, ...]:
    with client.app.app_context():
        row = db.session.get_one(AccountUsage, client.account_id)
        projects = row.projects_active, row.projects_archived, row.projects_draft
        return *projects, row.area_m2, row.members


def usual(client: Client) -> list[str]:
    """The types of events but for those of usage."""
    return [kind for kind in event_types(client) if not kind.startswith("usage.")]


@pytest.mark.both
def test_a_project_that_was_put_in_is_as_if_the_service_had_made_it(client: Client) -> None:
    sides = {"west": 0, "south": 0, "east": 1, "north": 1}
    body = insert(client, "projects", name="Forêt Noire", geometry=boundary(), area_m2=5, **sides)
    row_id = body["record"]["id"]
    assert result(report(client, body)) == "applied"
    right = read_boundary(square(size=0.01))
    row = row_of(client, "projects", row_id)
    assert row["geometry"] == right.text
    assert row["area_m2"] == right.area_m2
    assert [row[side] for side in ("west", "south", "east", "north")] == list(right.bounds)
    assert row["name_key"] == fold_text("Forêt Noire")
    assert row["search_text"] == searchable_text("Forêt Noire", None)
    assert counters(client) == (1, 0, 0, right.area_m2, 1)
    shown = client.get(f"/v1/projects/{row_id}").json["data"]
    assert shown["geometry"] == square(size=0.01)
    assert shown["created_at"] == "2026-03-04T05:06:07.000Z"
    assert shown["updated_at"] > "2026-03-04T05:06:07.000Z"
    assert client.get("/v1/projects?search=noire").json["meta"]["total"] == 1
    assert client.get("/v1/projects?bbox=9,49,11,51").json["meta"]["total"] == 1
    (event,) = events(client)
    assert event["type"] == "project.created"
    by = event["data"].pop("created_by")
    assert by["id"] == client.owner_id
    assert event["data"] == {name: shown[name] for name in shown if name not in NOT_IN_EVENTS}


@pytest.mark.both
def test_a_changed_name(client: Client, project: dict[str, Any]) -> None:
    assert names(client) == ["Wald"]
    body = change(client, "projects", project["id"], name="Forst", status="draft")
    assert result(report(client, body)) == "applied"
    event = events(client)[-1]
    shown = client.get(f"/v1/projects/{project['id']}").json["data"]
    del shown["geometry"], shown["country"]
    actor = events(client)[0]["data"]["created_by"]
    assert event["type"] == "project.updated"
    assert event["data"] == shown | {
        "changes": {
            "name": {"from": "Wald", "to": "Forst"},
            "status": {"from": "active", "to": "draft"},
        },
        "updated_by": actor,
    }
    assert shown["updated_at"] > project["updated_at"]
    assert client.get("/v1/projects?search=forst").json["meta"]["total"] == 1
    assert client.get("/v1/projects?search=wald").json["meta"]["total"] == 0
    assert names(client) == ["Forst"]  # of /ogc, whose pages are kept
    assert counters(client)[:3] == (0, 0, 1)


def test_what_differs_are_the_changes(client: Client, project: dict[str, Any]) -> None:
    for columns, changed in [
        ({"description": None}, {"description"}),
        ({"slug": "other"}, {"slug"}),
        ({"created_at": "2020-01-01T00:00:00.000Z"}, {"created_at"}),
        ({"geometry": None}, {"geometry", "area_hectares"}),
        ({"name": "Forst", "geometry": boundary(0.02)}, {"name", "geometry", "area_hectares"}),
    ]:
        report(client, change(client, "projects", project["id"], **columns))
        event = events(client)[-1]
        assert event["type"] == "project.updated"
        assert set(event["data"]["changes"]) == changed


def test_the_entry_of_a_change_in_the_audit_log(client: Client, project: dict[str, Any]) -> None:
    with new_entries(client) as found:
        report(client, change(client, "projects", project["id"], name="Forst"))
    (entry,) = found
    assert entry["action"] == "project.updated"
    assert entry["actor"] == {"type": "system", "id": None, "label": "Database"}
    assert entry["target"] == {"type": "project", "id": project["id"], "label": "Forst"}
    assert entry["changes"] == {"name": {"from": "Wald", "to": "Forst"}}


def test_a_changed_boundary(client: Client, project: dict[str, Any]) -> None:
    report(client, change(client, "projects", project["id"], geometry=boundary(0.02)))
    right = read_boundary(square(size=0.02))
    assert events(client)[-1]["data"]["changes"] == {
        "geometry": {"changed": True},
        "area_hectares": {"from": project["area_hectares"], "to": right.area_m2 / 10_000},
    }
    row = row_of(client, "projects", project["id"])
    assert (row["area_m2"], row["east"]) == (right.area_m2, right.bounds.east)
    assert counters(client)[3] == right.area_m2


def test_derived_columns_that_were_written_over_are_corrected_and_not_published(
    client: Client, project: dict[str, Any]
) -> None:
    before = row_of(client, "projects", project["id"])
    body = change(client, "projects", project["id"], area_m2=1, search_text="x", name_key="y")
    assert result(report(client, body)) == "applied"
    assert usual(client) == ["project.created"]
    after = row_of(client, "projects", project["id"])
    assert {name for name in after if after[name] != before[name]} == {"updated_at"}


@pytest.mark.both
def test_a_deleted_project_is_published_as_it_was_last(
    client: Client, project: dict[str, Any]
) -> None:
    change(client, "projects", project["id"], name="Last", description=None)
    body = delete(client, "projects", project["id"])
    assert result(report(client, body)) == "applied"
    event = events(client)[-1]
    actor = events(client)[0]["data"]["created_by"]
    last = project | {"name": "Last", "description": None}
    shown = {name: value for name, value in last.items() if name not in NOT_IN_EVENTS}
    assert event["type"] == "project.deleted"
    assert event["data"] == shown | {"deleted_by": actor}
    assert counters(client) == (0, 0, 0, 0, 1)


def test_a_deleted_project_that_was_reported_badly_is_published_as_in_its_last_event(
    client: Client,
) -> None:
    for broken in ({"name": None}, {"area_m2": "x"}, {"created_at": "yesterday"}):
        project = make_project(client)
        row = delete(client, "projects", project["id"])["old_record"] | {"slug": "x"} | broken
        assert result(report(client, report_of("DELETE", "projects", None, row))) == "applied"
        data = events(client)[-1]["data"]
        assert data.items() >= {name: project[name] for name in project if name in data}.items()


def test_the_event_of_usage_follows_that_of_the_project(client: Client) -> None:
    report(client, insert(client, "projects", geometry=boundary(1.0)))
    assert event_types(client) == [
        "project.created",
        *["usage.threshold_reached"] * 3,
        "usage.limit_exceeded",
    ]
    project_id = events(client)[0]["data"]["id"]
    report(client, change(client, "projects", project_id, status="archived"))
    assert event_types(client)[5:] == ["project.updated"]


def test_counters_are_exact_whatever_came_before(client: Client, project: dict[str, Any]) -> None:
    """One change that was never reported, and counters that somebody overwrote."""
    insert(client, "projects", status="draft")
    with client.app.app_context(), transaction():
        row = db.session.get_one(AccountUsage, client.account_id)
        row.projects_active, row.area_m2, row.members = 77, -5, 9
    report(client, change(client, "projects", project["id"], name="Forst"))
    area = round(project["area_hectares"] * 10_000)
    assert counters(client) == (1, 0, 1, area, 1)


@pytest.mark.both
def test_counters_are_exact_while_others_change_projects(client: Client) -> None:
    bodies = [insert(client, "projects", geometry=boundary(0.01 + n / 1000)) for n in range(4)]

    def make() -> None:
        made = make_project(client, geometry=square(size=0.01))
        client.post(f"/v1/projects/{made['id']}/archive")

    together(*(lambda b=b: report(client, b) for b in bodies), *[make] * 4)
    listed = client.get("/v1/projects?per_page=100").json["data"]
    area = sum(round(p["area_hectares"] * 10_000) for p in listed if p["status"] == "active")
    assert counters(client) == (4, 4, 0, area, 1)
    assert sorted(usual(client)) == ["project.archived"] * 4 + ["project.created"] * 8


def test_reports_of_accounts_are_separate(client: Client, stranger: Client) -> None:
    body = insert(client, "projects")
    assert result(report(stranger, body)) == "applied"  # the row says whose it is, not the sender
    assert usual(client) == ["project.created"]
    assert usual(stranger) == []
