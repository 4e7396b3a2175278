"""Which projects a map has, whichever index finds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import pytest

from app.db.extensions import db
from app.db.queries import reading_engine
from app.geometry import Bounds
from app.lists.query import ListQuery
from app.projects.listing import list_projects
from app.projects.map import largest
from app.projects.map.largest import find_largest
from tests import query_plans
from tests.conftest import DATABASES
from tests.make.bulk import fill
from tests.make.geometry import overlaps

BOXES = (
    None,
    Bounds(-180, -90, 180, 90),
    Bounds(-10, -20, 60, 50),
    Bounds(0, 0, 1, 1),
    Bounds(100, -40, 300, 40),
)


@pytest.fixture(scope="module", params=DATABASES)
def account_id(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """An account with 1,000 projects, beside another one."""
    url = ""
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").create_database(has_tables=True)
    filled = fill(tmp_path_factory.mktemp("maps"), url, accounts=2, size=1_000)
    with filled.app.app_context():
        yield filled.principals[0].account_id
        db.session.remove()
    with filled.app.app_context():
        db.engine.dispose()
        reading_engine().dispose()


def expected(records: Iterable[dict[str, Any]], wanted: ListQuery) -> list[str]:
    found = []
    for record in records:
        if record["bbox"] is None or wanted.filters.get("status") not in (None, record["status"]):
            continue
        west, south, east, north = record["bbox"]
        box = Bounds(west, south, east + 360 * (east < west), north)
        if wanted.bbox is None or overlaps(box, wanted.bbox):
            found.append((record["area_hectares"], record["id"]))
    return [project_id for _, project_id in sorted(found, reverse=True)]


def test_the_largest_that_are_in_the_box(account_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the index of boxes may name no project or all, and whether there are too many."""
    found, total = list_projects(account_id, ListQuery(per_page=1_000), boundaries=False)
    records = list(found)
    assert total == 1_000
    for box, status, near in product(BOXES, (None, "active"), (0, 10_000)):
        wanted = ListQuery(bbox=box, filters={"status": status} if status else {})
        ids = expected(records, wanted)
        for most in (7, 1_000):
            monkeypatch.setattr(largest, "MAP_NEAR", near)
            monkeypatch.setattr(largest, "MAP_FEATURES", most)
            found = find_largest(account_id, wanted)
            assert [row.id for row in found.rows] == ids[:most]
            assert found.matched == len(ids)


def test_all_that_a_search_finds_are_counted(
    account_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(largest, "MAP_FEATURES", 7)
    query = ListQuery(per_page=1_000, search="chestnut", filters={"has_geometry": True})
    records, total = list_projects(account_id, query, boundaries=False)
    found = find_largest(account_id, ListQuery(search="chestnut"))
    assert [row.id for row in found.rows] == expected(records, ListQuery())[:7]
    assert found.matched == total > 7


def plans(account_id: str, wanted: ListQuery) -> list[str]:
    found: list[str] = query_plans.of(lambda: find_largest(account_id, wanted), "values")
    return found


def is_index_only(plan: str) -> bool:
    name = "ix_projects_account_id_area_m2_id"
    return f"COVERING INDEX {name} " in plan or f"Index Only Scan Backward using {name} " in plan


def test_the_world_is_read_from_the_index_of_areas(account_id: str) -> None:
    assert is_index_only(plans(account_id, ListQuery())[0])
    plan = plans(account_id, ListQuery(filters={"status": "active"}))[0]
    assert is_index_only(plan) or "ix_projects_account_id_status_area_m2_id" in plan


@pytest.mark.slow
def test_a_box_with_many_is_read_from_the_index_of_areas(
    account_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(largest, "MAP_NEAR", 0)
    *_, rows, count = plans(account_id, ListQuery(bbox=BOXES[2]))
    assert is_index_only(rows)
    assert is_index_only(count)


def test_a_box_with_few_is_read_from_the_index_of_boxes(account_id: str) -> None:
    for plan in plans(account_id, ListQuery(bbox=BOXES[2])):
        assert "projects_box" in plan
        assert "ix_projects_account" not in plan


@pytest.mark.slow
def test_what_may_be_searched(account_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among the MAP_SEARCHED largest of the account."""
    monkeypatch.setattr(largest, "MAP_NEAR", 0)
    monkeypatch.setattr(largest, "MAP_SEARCHED", 50)
    found = find_largest(account_id, ListQuery(bbox=BOXES[2]))
    records, _ = list_projects(account_id, ListQuery(per_page=1_000), boundaries=False)
    first = expected(records, ListQuery())[:50]
    assert {row.id for row in found.rows} <= set(first)
    assert found.matched == len(found.rows) > 0
