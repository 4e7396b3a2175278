"""Every list is read from the index that is meant for it, whatever the planner knows of the rows.

On PostgreSQL a statement is planned for the values at hand or for any, and before there are
statistics or after; the plans must be the same. SQLite has no statistics in production, but
somebody may gather some.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest
from sqlalchemy import text

from app.assets.listing import asset_query, list_assets
from app.db.extensions import db
from app.db.queries import reading_engine
from app.geometry import Bounds
from app.lists import scanning
from app.models import Asset
from app.projects import listing
from app.projects.listing import list_projects, project_query, scan_projects
from app.values import clock
from app.values.ids import new_id
from tests import query_plans
from tests.make.bulk import FREQUENT, RARE, fill

KEYS = {
    "created_at": "created_at",
    "updated_at": "updated_at",
    "name": "name_key",
    "area_hectares": "area_m2",
}
BOX = Bounds(0.0, 0.0, 30.0, 30.0)
WORLD = Bounds(-180.0, -90.0, 180.0, 90.0)
AROUND = Bounds(-175.0, -65.0, 175.0, 65.0)
HALF = Bounds(-180.0, -90.0, 0.0, 90.0)
# How a plan names a table that is read without an index that narrows it down.
WHOLE = re.compile(r"Seq Scan on (projects|assets)|SCAN (projects|assets)\b(?!_)")

SORTED = re.compile(r"Sort Key|TEMP B-TREE")


class Place(NamedTuple):
    """A filled database: an account with 1,000 projects, 20 of which have assets, one has 500."""

    database: str
    account_id: str
    project_id: str

    def projects(self, **query: Any) -> list[str]:
        """The plans of a list of projects, the last of which is that of the page."""
        return self._plans(lambda: list_projects(self.account_id, project_query(**query)))

    def assets(self, **query: Any) -> list[str]:
        asked = asset_query(**query)
        return self._plans(lambda: list_assets(self.account_id, self.project_id, asked))

    def all_assets(self, **query: Any) -> list[str]:
        return self._plans(lambda: list_assets(self.account_id, None, asset_query(**query)))

    def export(self, **query: Any) -> list[str]:
        """The plans of all statements of an export."""
        asked = project_query(**query)
        return self._plans(lambda: list(scan_projects(_read, self.account_id, asked)))

    def _plans(self, call: Callable[[], Any]) -> list[str]:
        """The plans for these values; for any values that of the page must be the same."""
        found, general = query_plans.of(call, "values"), query_plans.of(call, "any")
        assert _used(found[-1]) == _used(general[-1])
        for plan in (*found, *general):
            assert not WHOLE.search(plan), plan
        return found

    def is_index_only(self, plan: str, index: str) -> bool:
        if self.database.startswith("sqlite"):
            return f"COVERING INDEX {index} " in plan
        return bool(re.search(rf"Index Only Scan (Backward )?using {index} ", plan))

    def looks_up(self, plan: str) -> bool:
        """Whether the rows of the page are found one by one."""
        key = "INTEGER PRIMARY KEY" if self.database.startswith("sqlite") else "uq_projects_id"
        return key in plan


def _read(query: Callable[..., Any], *args: Any, **values: Any) -> Any:
    return query(*args, **values)


def _used(plan: str) -> set[str]:
    """The indexes that a plan uses, besides that of deleted projects, which all plans use."""
    found = re.findall(r"\b(?:ix_\w+|uq_\w+|pk_\w+|\w+_text|\w+_box)\b", plan)
    return set(found) - {"ix_projects_deleted"}


DATABASES = (
    "sqlite",
    pytest.param("sqlite with statistics", marks=pytest.mark.slow),
    pytest.param("postgresql", marks=pytest.mark.slow),
    "postgresql with statistics",
)


@pytest.fixture(scope="module", params=DATABASES)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    url = ""
    if request.param.startswith("postgresql"):
        url = request.getfixturevalue("postgres").create_database(has_tables=True)
    filled = fill(tmp_path_factory.mktemp("plans"), url, accounts=2, size=1_000)
    with filled.app.app_context():
        account_id = filled.principals[0].account_id
        records = list(list_projects(account_id, project_query())[0])
        for place_in_list, record in enumerate(records):
            add_assets(account_id, record["id"], 100 if place_in_list else 500)
        if request.param.endswith("with statistics"):
            gather_statistics()
        yield Place(request.param, account_id, records[0]["id"])
        db.session.remove()
    with filled.app.app_context():
        db.engine.dispose()
        reading_engine().dispose()


def gather_statistics() -> None:
    """What autovacuum does by itself within a minute or so, and on SQLite somebody by hand."""
    sqlite = reading_engine().dialect.name == "sqlite"
    with reading_engine().connect() as connection:
        connection.execute(text("ANALYZE" if sqlite else "VACUUM ANALYZE projects, assets"))


def add_assets(account_id: str, project_id: str, number: int) -> None:
    moment = clock.now()
    rows = [
        {
            "id": new_id("asset"), "account_id": account_id, "project_id": project_id,
            "type": "sensor" if n % 3 else "station", "status": "active" if n % 9 else "retired",
            "created_at": moment, "updated_at": moment, "name": f"Sensor {n}",
            "external_id": f"AS-{n}", "search_text": f"sensor {n}",
            "longitude": n / 10, "latitude": n / 10,
        }
        for n in range(number)
    ]  # fmt: skip
    db.session.execute(Asset.__table__.insert(), rows)
    db.session.commit()


@pytest.mark.slow
def test_one_of_the_first_pages_is_read_in_its_order_and_not_sorted(place: Place) -> None:
    for sort, order, page in product(KEYS, ("asc", "desc"), (1, 10)):
        plan = place.projects(sort=sort, order=order, page=page)[-1]
        assert f"ix_projects_account_id_{KEYS[sort]}_id" in _used(plan), plan
        assert not SORTED.search(plan), plan


@pytest.mark.slow
def test_a_page_is_found_on_the_index_of_its_order(place: Place) -> None:
    pages = ((None, 12), (None, 50), ("active", 20), ("draft", 1))
    for sort, order, (status, page) in product(KEYS, ("asc", "desc"), pages):
        plan = place.projects(sort=sort, order=order, status=status, page=page)[-1]
        middle = "status_" if status else ""
        assert place.is_index_only(plan, f"ix_projects_account_id_{middle}{KEYS[sort]}_id"), plan
        assert place.looks_up(plan), plan


def test_a_word_or_a_box_is_found_on_its_index(place: Place) -> None:
    for status in (None, "draft"):
        for index, plans in (
            ("projects_text", place.projects(search=RARE, status=status, sort="name")),
            ("projects_box", place.projects(bbox=BOX, status=status)),
        ):
            for plan in plans:
                assert index in _used(plan), plan
                assert not {name for name in _used(plan) if name.startswith("ix_")}, plan


def test_a_page_of_a_frequent_word_is_found_on_the_index_of_its_order(place: Place) -> None:
    count, page = place.projects(search=FREQUENT, sort="area_hectares")
    assert "projects_text" in _used(count)
    assert "ix_projects_account_id_area_m2_id" in _used(page)


def test_a_needle_that_no_index_has_is_looked_for_in_the_rows_of_the_account(place: Place) -> None:
    asked = project_query(search="zx")
    (count,) = query_plans.of(lambda: list_projects(place.account_id, asked), "values")
    assert "projects_text" not in _used(count)
    # The order in which the rows lie; PostgreSQL may read them all.
    if place.database.startswith("sqlite"):
        assert "INDEX ix_projects_account_id_created_at_id (account_id=?)" in count


def test_a_word_comes_before_a_box(place: Place) -> None:
    for plan in place.projects(bbox=WORLD, search=RARE):
        assert "projects_text" in _used(plan), plan
        assert "projects_box" not in _used(plan), plan


def test_a_box_comes_before_a_frequent_word(place: Place, monkeypatch: Any) -> None:
    monkeypatch.setattr(listing, "MANY", 100)
    *_, look, count, page = place.projects(bbox=BOX, search=FREQUENT)
    assert "projects_text" in _used(look)
    for plan in (count, page):
        assert "projects_box" in _used(plan), plan
        assert "projects_text" not in _used(plan), plan


def test_a_box_around_all_is_read_in_order(place: Place, monkeypatch: Any) -> None:
    monkeypatch.setattr(listing, "MANY", 10)
    for status in (None, "draft"):
        beside, nowhere, *_, page = place.projects(bbox=AROUND, status=status)
        assert _used(beside) <= {"projects_box"}, beside
        for plan in (nowhere, page):
            assert "projects_box" not in _used(plan), plan
        assert not SORTED.search(nowhere)


def test_a_large_box_is_counted_in_the_index_of_areas(place: Place, monkeypatch: Any) -> None:
    if not place.database.startswith("sqlite"):
        pytest.skip("PostgreSQL reads the rows of a box in the order in which they are stored")
    monkeypatch.setattr(listing, "MANY", 10)
    for status in (None, "draft"):
        _, named, count, *_ = place.projects(bbox=HALF, status=status)
        assert _used(named) == {"projects_box"}
        assert place.is_index_only(count, "ix_projects_account_id_area_m2_id"), count
        assert _used(count) == {"ix_projects_account_id_area_m2_id"}


def test_a_page_that_may_be_large_is_sought_once(place: Place, monkeypatch: Any) -> None:
    monkeypatch.setattr(listing, "EXPENSIVE_PAGE_BYTES", 0)
    keys, rows = place.projects(page=20)
    assert place.is_index_only(keys, "ix_projects_account_id_created_at_id"), keys
    assert not place.is_index_only(rows, "ix_projects_account_id_created_at_id"), rows
    assert place.looks_up(rows), rows


def test_assets_of_a_project_are_found_on_an_index(place: Place) -> None:
    if place.database == "postgresql":
        pytest.skip("a few rows of which nothing is known are read in any way")
    for query, index in (
        ({}, "ix_assets_project_id_account_id_created_at_id"),
        ({"status": "active"}, "ix_assets_project_id_account_id_status_created_at_id"),
        ({"type": "sensor"}, "ix_assets_project_id_account_id_type_created_at_id_status"),
    ):
        plan = place.assets(**query)[-1]
        assert place.is_index_only(plan, index), plan
    for status in (None, "active"):
        for plan in place.assets(external_id="AS-7", status=status):
            assert "ix_assets_account_id_external_id_project_id" in plan, plan
    for plan in place.assets(search="sensor 77"):
        assert "assets_text" in _used(plan), plan
    for plan in place.assets(bbox=Bounds(1.0, 1.0, 2.0, 2.0)):
        assert "assets_box" in _used(plan), plan


def test_a_key_is_looked_up_on_its_own_index(place: Place) -> None:
    if place.database == "postgresql":
        pytest.skip("a few rows of which nothing is known are read in any way")
    ids: dict[str, Any] = {"ids": ("proj_x", "proj_y"), "search": "oak", "bbox": BOX}
    for query, index in (
        ({"external_id": "FS-3"}, "ix_projects_account_id_external_id"),
        ({"slug": "oak"}, "uq_projects_account_id_slug"),
        ({"external_id": "FS-3", "status": "draft"}, "ix_projects_account_id_external_id"),
        (ids, "uq_projects_id"),
    ):
        if place.database.startswith("sqlite"):
            index = re.sub(r"^uq_projects.*", "sqlite_autoindex", index)
        for plan in place.projects(**query):
            assert index in plan, plan


def test_the_latest_changes_are_found_by_their_time(place: Place) -> None:
    since = {"updated_since": clock.now(), "sort": "updated_at"}
    for plan in place.projects(**since):
        assert any("updated_at" in index for index in _used(plan)), plan


def test_the_assets_of_all_projects_are_found_on_an_index(place: Place) -> None:
    if place.database.startswith("postgresql"):
        pytest.skip("all assets are the account's here, so that it may read the whole table")
    external_id, queries = "ix_assets_account_id_external_id_project_id", [
        ({}, "ix_assets_account_id_created_at_id"),
        ({"sort": "updated_at"}, "ix_assets_account_id_updated_at_id"),
        ({"status": "active"}, "ix_assets_account_id_status_created_at_id"),
        ({"type": "sensor"}, "ix_assets_account_id_type_created_at_id_status"),
        ({"search": "sensor 77"}, "account_assets_text"),
        ({"bbox": Bounds(1.0, 1.0, 2.0, 2.0)}, "account_assets_box"),
        ({"ids": ("asset_x",)}, "sqlite_autoindex_assets"),
    ]  # fmt: skip
    queries += [({"external_id": "AS-7", "status": s}, external_id) for s in (None, "active")]
    for query, index in queries:
        plan = place.all_assets(**query)[-1]
        assert index in plan, plan


def test_an_export_goes_on_after_the_last_row_without_sorting(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And finds the rows of a batch one by one."""
    monkeypatch.setattr(scanning, "EXPORT_KEYS", 100)
    queries: list[dict[str, Any]] = [{}, {"search": "oak", "bbox": BOX}, {"status": "active"}]
    for plan in (plan for query in queries for plan in place.export(**query)):
        is_of_rows = "uq_projects_id" in plan or "sqlite_autoindex" in plan
        assert is_of_rows or "created_at_id" in plan, plan
        assert is_of_rows or not SORTED.search(plan), plan
