"""All rows that the filters of a list leave, whatever is written meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.assets.listing import asset_query
from app.assets.scanning import scan_assets
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.lists import scanning
from app.lists.scanning import Scan
from app.projects.listing import project_query
from app.projects.scanning import scan_projects
from app.projects.schemas import ProjectQuerySchema
from bench.instance import polygon
from tests.make import Client, make_asset, make_project, point, square

pytestmark = pytest.mark.both


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of two rows, and keys of five."""
    monkeypatch.setattr(scanning, "EXPORT_KEYS", 5)
    monkeypatch.setattr(scanning, "EXPORT_ROWS", 2)


@pytest.fixture(autouse=True)
def _context(app: Flask) -> Iterator[None]:
    with app.app_context():
        yield


def _projects(client: Client, **values: Any) -> Scan[dict[str, Any]]:
    return scan_projects(client.account_id, project_query(**values))


def _batches(scan: Scan[Any]) -> Iterator[list[Any]]:
    while (batch := scan.read()) is not None:
        yield batch


def _ids(scan: Scan[dict[str, Any]]) -> list[str]:
    return [record["id"] for batch in _batches(scan) for record in batch]


def _set_times(client: Client, time: str) -> None:
    """As a row is that somebody wrote with SQL."""
    statement = text("UPDATE projects SET created_at = :time WHERE account_id = :account_id")
    db.session.execute(statement, {"time": time, "account_id": client.account_id})
    db.session.commit()


@pytest.mark.parametrize("number", [0, 1, 2, 4, 5, 6, 11])
def test_every_row_comes_once_in_order(client: Client, stranger: Client, number: int) -> None:
    made = [make_project(client)["id"] for _ in range(number)]
    make_project(stranger)
    assert _ids(_projects(client)) == made


def test_few_rows_come_at_once(client: Client) -> None:
    for _ in range(5):
        make_project(client)
    assert [len(batch) for batch in _batches(_projects(client))] == [2, 2, 1]


def test_large_rows_come_alone(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "EXPORT_ROWS_BYTES", 1_000)
    for geometry in (square(), polygon(500), square(), square()):
        make_project(client, geometry=geometry)
    assert [len(batch) for batch in _batches(_projects(client))] == [1, 1, 2]


def test_records_are_whole(client: Client) -> None:
    made = make_project(client, geometry=square(), metadata={"a": 1}, external_id="x")
    (batch,) = _batches(_projects(client))
    assert {name: batch[0][name] for name in ("id", "external_id", "area_hectares")} == {
        name: made[name] for name in ("id", "external_id", "area_hectares")
    }


def test_rows_of_one_moment(client: Client) -> None:
    made = [make_project(client)["id"] for _ in range(12)]
    _set_times(client, "2026-01-02T03:04:05.678Z")
    assert _ids(_projects(client)) == sorted(made)


def test_moments_more_precise_than_the_service_writes(client: Client) -> None:
    made = [make_project(client)["id"] for _ in range(12)]
    _set_times(client, "2026-01-02T03:04:05.678901Z")
    assert _ids(_projects(client)) == sorted(made)


def test_what_others_write_meanwhile(client: Client) -> None:
    """Rows that are there all the time come once. Deleted ones may be missing, and new ones come
    last if at all."""
    made = [make_project(client, name=f"Old {number}")["id"] for number in range(20)]
    found: list[str] = []
    for number, batch in enumerate(_batches(_projects(client))):
        found += [record["id"] for record in batch]
        if number < 5:
            make_project(client, name=f"New {number}")
            gone, changed = made[-1 - number], made[number]
            client.post(f"/v1/projects/{gone}/archive")
            client.delete(f"/v1/projects/{gone}")
            client.put(f"/v1/projects/{changed}", json={"name": f"Changed {number}"})
    assert len(set(found)) == len(found)
    assert [each for each in found if each in made] == made[:15]


FILTERS: list[dict[str, Any]] = [
    {"status": "archived"},
    {"search": "oak"},
    {"search": "o"},
    {"status": "active", "search": "OAK"},
    {"external_id": "x-3"},
    {"slug": "oak-4"},
    {"bbox": "0,-80,4.05,80"},
    {"bbox": "0,-80,4.05,80", "search": "elm"},
    {"updated_since": "2999-01-01T00:00:00Z"},
    {"updated_since": "2000-01-01T00:00:00Z", "status": "active"},
    {"search": "birch"},
]


@pytest.mark.parametrize("filters", FILTERS)
def test_filters_leave_what_those_of_the_list_leave(
    client: Client, filters: dict[str, Any]
) -> None:
    for number in range(12):
        name = f"{'elm' if number % 3 else 'oak'} {number + 1}"
        made = make_project(client, name=name, external_id=f"x-{number}", geometry=square(number))
        if number % 4 == 0:
            client.post(f"/v1/projects/{made['id']}/archive")
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    listed = client.get(f"/v1/projects?per_page=100&sort=created_at&order=asc&{query}").json["data"]
    loaded = ProjectQuerySchema().load(filters)
    assert _ids(_projects(client, **loaded)) == [record["id"] for record in listed]


def test_ids_are_a_filter(client: Client) -> None:
    made = [make_project(client)["id"] for _ in range(8)]
    assert _ids(_projects(client, ids=(made[6], made[1], "proj_x"))) == [made[1], made[6]]


def test_assets_of_a_project_or_of_all(client: Client) -> None:
    first, second = make_project(client)["id"], make_project(client)["id"]
    made = [make_asset(client, project, location=point())["id"] for project in (first, second) * 4]
    query = asset_query()
    assert _ids(scan_assets(client.account_id, query)) == made
    assert _ids(scan_assets(client.account_id, query, project_id=second)) == made[1::2]


def test_metadata_alone(client: Client) -> None:
    for metadata in ({"a": 1}, None, {"b": 2}):
        make_project(client, metadata=metadata)
    scan = scan_projects(client.account_id, project_query(), metadata_only=True)
    assert [each for batch in _batches(scan) for each in batch] == ['{"a":1}', None, '{"b":2}']


@pytest.mark.parametrize("failing", range(8))
def test_a_batch_that_failed_can_be_read_again(
    client: Client, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """As a replica fails, and the primary is read instead."""
    made = [make_project(client)["id"] for _ in range(9)]
    scan, found = _projects(client), list[str]()
    read, calls = CompiledQuery.tuples, 0

    def fail_once(self: CompiledQuery, **values: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == failing + 1:
            raise OperationalError("", {}, Exception("gone"))
        return read(self, **values)

    monkeypatch.setattr(CompiledQuery, "tuples", fail_once)
    while True:
        try:
            batch = scan.read()
        except OperationalError:
            continue
        if batch is None:
            break
        found += [record["id"] for record in batch]
    assert calls > failing
    assert found == made
