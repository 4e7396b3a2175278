"""``usage.threshold_reached`` and ``usage.limit_exceeded`` for hectares, emitted whenever a
threshold is reached anew (docs/adr/0006-areas-and-counters.md)."""

from __future__ import annotations

from typing import Any

import pytest

from app.account.lookup import find_account
from app.auth.operator import acting_for, first_owner
from app.db.extensions import db
from app.geometry import read_boundary
from app.imports.features.candidates import Candidate
from app.imports.features.project_targets import ProjectTargets
from tests.make import Client, events, make_project, multi_square, square, together
from tests.usage.helpers import ALL, in_transaction, levels, set_counters, usage_events

LIMIT_M2 = 10_000_000  # of the plan "free": 1,000 ha


@pytest.mark.both
def test_data_of_an_event(free: Client) -> None:
    set_counters(free, area_m2=7_499_999)
    project = make_project(free, geometry=square(size=0.001))
    first = events(free)[-1]
    area = (7_499_999 + round(project["area_hectares"] * 10_000)) / 10_000
    assert first["type"] == "usage.threshold_reached"
    assert first["account"] == {"id": free.account_id, "name": find(free).name}
    assert first["data"] == {
        "metric": "hectares",
        "threshold": 75,
        "current": area,
        "limit": 1000,
        "percentage": round(area / 10, 2),
    }


def find(client: Client) -> Any:
    with client.app.app_context():
        return find_account(client.account_id)


def test_a_project_that_exactly_reaches_a_threshold(free: Client) -> None:
    geometry = square(size=0.001)
    area_m2 = read_boundary(geometry).area_m2
    for reached, expected in (
        (LIMIT_M2 * 75 // 100 - 1, []),
        (LIMIT_M2 * 75 // 100, [75]),
        (LIMIT_M2, [75, 90, 100]),
        (LIMIT_M2 + 1, ALL),
    ):
        set_counters(free, area_m2=reached - area_m2)
        make_project(free, geometry=geometry)
        assert usage_events(free) == expected


def test_a_large_project_reaches_all_thresholds_each_once(free: Client) -> None:
    make_project(free, geometry=square(size=1))
    assert usage_events(free) == ALL
    types = [each["type"] for each in events(free)]
    reached = ["usage.threshold_reached"] * 3
    assert types == ["project.created", *reached, "usage.limit_exceeded"]
    make_project(free, geometry=square(20, 20, 1))
    assert usage_events(free) == ALL


@pytest.mark.both
def test_up_and_down_and_up_again(free: Client) -> None:
    path = f"/v1/projects/{make_project(free, geometry=square(size=1))['id']}"
    free.post(f"{path}/archive")
    assert usage_events(free) == ALL
    assert levels(free)[0] == 0
    free.post(f"{path}/restore")
    assert usage_events(free) == ALL * 2


def test_archived_and_deleted_projects_do_not_count(free: Client) -> None:
    path = f"/v1/projects/{make_project(free, geometry=square(size=1))['id']}"
    free.put(path, json={"status": "archived"})
    assert levels(free)[0] == 0
    free.delete(path)
    assert levels(free)[0] == 0
    assert usage_events(free) == ALL


def test_a_draft_counts_like_an_active_project(free: Client) -> None:
    path = f"/v1/projects/{make_project(free, geometry=square(size=1))['id']}"
    free.put(path, json={"status": "draft"})
    free.put(path, json={"status": "active"})
    assert usage_events(free) == ALL


def test_a_new_boundary_on_the_same_level_emits_nothing(free: Client) -> None:
    """The level must not drop between subtracting the old area and adding the new one."""
    path = f"/v1/projects/{make_project(free, geometry=square(size=1))['id']}"
    for geometry in (square(size=0.9), multi_square((1, 1), (3, 3), size=1)):
        free.put(path, json={"geometry": geometry})
    free.put(path, json={"name": "Other", "description": "other"})
    assert usage_events(free) == ALL


def test_without_a_limit_nothing_is_emitted(client: Client) -> None:
    make_project(client, geometry=square(size=5))
    assert usage_events(client) == []
    assert levels(client) == (0, 0, 0)


def test_imported_projects_count(free: Client) -> None:
    def run() -> None:
        principal = acting_for(find_account(free.account_id), first_owner(free.account_id))
        boundary = read_boundary(square(size=0.028))  # some 620 ha
        other = read_boundary(square(20, 50, size=0.028))
        for name, each in (("One", boundary), ("Two", other)):
            ProjectTargets().create(principal, Candidate(1, name, {}, each.text), name)

    in_transaction(free, run)
    assert usage_events(free) == ALL
    assert [each["type"] for each in events(free)][:2] == ["project.created"] * 2


def test_a_failed_change_emits_nothing(free: Client) -> None:
    make_project(free, name="Taken")
    rejected = free.post("/v1/projects", json={"name": "Taken", "geometry": square(size=1)})
    assert rejected.status_code == 409
    assert usage_events(free) == []
    assert levels(free)[0] == 0


@pytest.mark.provokes(500)
def test_a_failed_commit_emits_nothing(free: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails at the commit, after everything was written."""

    def fail() -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(db.session, "commit", fail)
        response = free.post("/v1/projects", json={"name": "Lost", "geometry": square(size=1)})
    assert response.status_code == 500
    assert usage_events(free) == []
    make_project(free, geometry=square(size=1))
    assert usage_events(free) == ALL


@pytest.mark.both
def test_concurrent_creates_emit_each_threshold_once(free: Client) -> None:
    """Eight projects of some 220 ha: it is open which one reaches a threshold."""
    small = [square(10 + 0.1 * place, 50, 0.0168) for place in range(8)]
    together(*(lambda g=g: make_project(free, geometry=g) for g in small))
    assert usage_events(free) == ALL


@pytest.mark.both
def test_concurrent_changes_leave_the_right_level(free: Client) -> None:
    paths = [
        f"/v1/projects/{make_project(free, geometry=square(10 + n, 50, 0.03))['id']}"
        for n in range(4)
    ]

    def swing(path: str) -> None:
        for _ in range(3):
            free.post(f"{path}/archive")
            free.post(f"{path}/restore")

    together(*(lambda p=p: swing(p) for p in paths))
    assert levels(free)[0] == 4
    seen = usage_events(free)
    assert seen[:4] == ALL
    assert all(seen.count(rung) <= 1 + 12 for rung in ALL), "told of without a climb"
