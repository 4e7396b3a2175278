"""All rows of a statement, or that the filters of a list leave, whatever is written meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.assets.listing import asset_query, scan_assets
from app.auth.tenant import columns_of
from app.db.extensions import db
from app.db.transactions import transaction
from app.lists import scanning
from app.lists.scanning import KeyedRows
from app.models import Project
from app.projects.listing import project_query, scan_projects
from app.projects.schemas import ProjectQuerySchema
from app.values.strict_json import dumps, loads
from tests.make import Client, make_asset, make_project, point, square
from tests.make.wavy import polygon


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of two rows, and keys of five."""
    monkeypatch.setattr(scanning, "EXPORT_KEYS", 5)
    monkeypatch.setattr(scanning, "EXPORT_ROWS", 2)


def _read(app: Flask) -> Callable[..., Any]:
    """Reads each query twice, as if the first answer were lost, in a context of its own."""

    def read(query: Callable[..., Any], *args: Any, **values: Any) -> Any:
        with app.app_context():
            query(*args, **values)
        with app.app_context():
            return query(*args, **values)

    return read


def _projects(client: Client, **values: Any) -> Iterator[list[dict[str, Any]]]:
    return scan_projects(_read(client.app), client.account_id, project_query(**values))


def _ids(scan: Iterable[list[dict[str, Any]]]) -> list[str]:
    return [record["id"] for batch in scan for record in batch]


def _set_times(client: Client, time: str) -> None:
    """As a row is that somebody wrote with SQL."""
    statement = text("UPDATE projects SET created_at = :time WHERE account_id = :account_id")
    with client.app.app_context(), transaction():
        db.session.execute(statement, {"time": time, "account_id": client.account_id})


@pytest.mark.both
def test_every_row_comes_once_in_order(client: Client, stranger: Client) -> None:
    make_project(stranger)
    made = list[str]()
    for _ in range(12):
        assert _ids(_projects(client)) == made
        made.append(make_project(client)["id"])


def test_large_rows_come_alone(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "EXPORT_ROWS_BYTES", 1_000)
    for geometry in (square(), polygon(500), square(), square()):
        make_project(client, geometry=geometry)
    assert [len(batch) for batch in _projects(client)] == [1, 1, 2]


def test_records_are_whole(client: Client) -> None:
    fields = {"metadata": {"a": 1}, "external_id": "x", "description": "Old oaks"}
    made = make_project(client, geometry=square(), **fields)
    (batch,) = _projects(client)
    assert loads(dumps(batch)) == [made]


@pytest.mark.both
def test_rows_of_one_time_more_precise_than_the_service_writes(client: Client) -> None:
    made = [make_project(client)["id"] for _ in range(12)]
    _set_times(client, "2026-01-02T03:04:05.678901Z")
    assert _ids(_projects(client)) == sorted(made)


@pytest.mark.both
def test_what_others_write_meanwhile(client: Client) -> None:
    """Rows that are there all the time come once. Deleted ones may be missing, and new ones come
    last if at all."""
    made = [make_project(client, name=f"Old {number}")["id"] for number in range(20)]
    found: list[str] = []
    for number, batch in enumerate(_projects(client)):
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


@pytest.mark.both
def test_filters_leave_what_those_of_the_list_leave(client: Client) -> None:
    for number in range(12):
        name = f"{'elm' if number % 3 else 'oak'} {number + 1}"
        made = make_project(client, name=name, external_id=f"x-{number}", geometry=square(number))
        if number % 4 == 0:
            client.post(f"/v1/projects/{made['id']}/archive")
    for filters in FILTERS:
        query = "&".join(f"{name}={value}" for name, value in filters.items())
        path = f"/v1/projects?per_page=100&sort=created_at&order=asc&{query}"
        loaded = ProjectQuerySchema().load(filters)
        listed = [record["id"] for record in client.get(path).json["data"]]
        assert _ids(_projects(client, **loaded)) == listed, filters


@pytest.mark.both
def test_assets_of_a_project_or_of_all(client: Client) -> None:
    first, second = make_project(client)["id"], make_project(client)["id"]
    made = [make_asset(client, project, location=point())["id"] for project in (first, second) * 4]
    read, query = _read(client.app), asset_query()
    assert _ids(scan_assets(read, client.account_id, query)) == made
    assert _ids(scan_assets(read, client.account_id, query, project_id=second)) == made[1::2]


def test_metadata_alone(client: Client) -> None:
    for metadata in ({"a": 1}, None, {"b": 2}):
        make_project(client, metadata=metadata)
    read = _read(client.app)
    scan = scan_projects(read, client.account_id, project_query(), metadata_only=True)
    assert [each for batch in scan for each in batch] == ['{"a":1}', None, '{"b":2}']


def test_batches_tell_of_rows_that_do_not_match(client: Client) -> None:
    for number in range(12):
        make_project(client, name=f"Elm {number}" if number == 11 else f"Oak {number}")
    assert [len(batch) for batch in _projects(client, search="elm")] == [0, 0, 1]


@pytest.mark.both
def test_rows_of_a_statement(client: Client, stranger: Client) -> None:
    made = [make_project(client, geometry=square())["name"] for _ in range(5)]
    make_project(stranger)
    key = (Project.created_at, Project.id)

    def names(account_id: str, **options: Any) -> list[list[str]]:
        rows = KeyedRows(columns_of(Project, Project.name), *key, **options)
        batches = rows.batches(_read(client.app), 2, account_id=account_id)
        return [[row.name for row in batch] for batch in batches]

    assert names(client.account_id) == [made[:2], made[2:4], made[4:]]
    assert names(client.account_id, size=Project.stored_bytes) == [made[:2], made[2:4], made[4:]]
    assert names("acct_none", size=Project.stored_bytes) == names("acct_none") == []
