"""The total of a list is kept until the account changes, and never longer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from app.db import queries
from app.lists import totals
from tests.make import Client, make_asset, make_project, make_service_token, square

PROJECTS = (
    "/v1/projects?search=forest",
    "/v1/projects?bbox=0,40,20,60",
    "/v1/projects?updated_since=2020-01-01T00:00:00Z",
    "/v1/projects?search=forest&bbox=0,40,20,60&status=active",
    "/ogc/collections/projects/items?bbox=0,40,20,60",
    "/ogc/collections/projects/items?filter=name%20LIKE%20%27Forest%25%27",
)
ASSETS = (
    "/v1/assets",
    "/v1/assets?type=equipment",
    "/v1/assets?search=station",
    "/ogc/collections/assets/items",
)


@pytest.fixture(autouse=True)
def _keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Totals are kept however short counting took."""
    monkeypatch.setattr(totals, "LONG_SECONDS", 0.0)


def total(client: Client, path: str) -> int:
    body: Any = client.get(path).json
    return int(body["numberMatched"] if "numberMatched" in body else body["meta"]["total"])


def make_forest(client: Client) -> str:
    return str(make_project(client, geometry=square())["id"])


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that count, as they are sent from now on."""
    sent: list[str] = []

    def note(statement: str) -> None:
        sent.append(statement)

    around_counting(monkeypatch, before=note)
    return sent


def around_counting(
    monkeypatch: pytest.MonkeyPatch,
    before: Callable[[str], None] = lambda _: None,
    after: Callable[[str], None] = lambda _: None,
) -> None:
    execute = queries._execute_statement

    def counting(source: Any, statement: Any, *others: Any) -> Any:
        is_count = "count(*)" in statement.text and "lists_version" in statement.text
        if is_count:
            before(statement.text)
        found = execute(source, statement, *others)
        if is_count:
            after(statement.text)
        return found

    monkeypatch.setattr(queries, "_execute_statement", counting)


@pytest.mark.both
def test_projects_are_counted_again_after_each_change(client: Client, counts: list[str]) -> None:
    made = [make_forest(client) for _ in range(2)]
    for path in PROJECTS:
        counts.clear()
        assert [total(client, path) for _ in range(3)] == [2, 2, 2]
        assert len(counts) == 1
    made.append(make_forest(client))
    assert [total(client, path) for path in PROJECTS] == [3] * len(PROJECTS)
    client.put(f"/v1/projects/{made[0]}", json={"name": "Meadow", "geometry": square(west=80.0)})
    left = [0 if "updated_since" in path else 1 for path in PROJECTS]
    assert [total(client, path) for path in PROJECTS] == [3 - number for number in left]
    client.post(f"/v1/projects/{made[1]}/archive")
    client.delete(f"/v1/projects/{made[1]}")
    assert [total(client, path) for path in PROJECTS] == [2 - number for number in left]


@pytest.mark.both
def test_assets_are_counted_again_after_each_change(client: Client, counts: list[str]) -> None:
    project = make_forest(client)
    made = [make_asset(client, project)["id"] for _ in range(2)]
    for path in ASSETS:
        counts.clear()
        assert [total(client, path) for _ in range(3)] == [2, 2, 2]
        assert len(counts) <= 1  # the same for both ways to ask
    changed = client.put(f"/v1/projects/{project}/assets/{made[0]}", json={"type": "mast"})
    assert changed.status_code == 200
    assert [total(client, path) for path in ASSETS] == [2, 1, 2, 2]
    client.delete(f"/v1/projects/{project}/assets/{made[1]}")
    assert [total(client, path) for path in ASSETS] == [1, 0, 1, 1]
    client.post(f"/v1/projects/{project}/archive")
    client.delete(f"/v1/projects/{project}")
    assert [total(client, path) for path in ASSETS] == [0] * len(ASSETS)


def test_each_account_and_each_query_has_its_own(client: Client, stranger: Client) -> None:
    for _ in range(2):
        make_forest(client)
    make_forest(stranger)
    search = "/v1/projects?search="
    assert total(client, f"{search}forest") == 2
    assert total(stranger, f"{search}forest") == 1
    assert total(client, f"{search}meadow") == 0


def test_who_sees_some_projects_gets_no_total_of_all(client: Client) -> None:
    some = make_forest(client)
    make_forest(client)
    limited = make_service_token(client, permissions=["projects:read"], project_ids=[some])
    path = "/v1/projects?search=forest"
    assert (total(client, path), total(limited, path)) == (2, 1)


@pytest.mark.both
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_project_written_while_counting_is_not_missed(
    client: Client, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    make_forest(client)
    written: list[str] = []

    def write(_: str) -> None:
        if not written:
            written.append("")
            thread = threading.Thread(target=lambda: written.append(make_forest(client)))
            thread.start()
            thread.join()

    around_counting(monkeypatch, **{moment: write})
    assert total(client, PROJECTS[0]) in (1, 2)
    assert len(written) == 2
    assert total(client, PROJECTS[0]) == 2


def test_what_is_counted_fast_is_not_kept(
    client: Client, counts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(totals, "LONG_SECONDS", 60.0)
    assert [total(client, PROJECTS[0]) for _ in range(2)] == [0, 0]
    assert len(counts) == 2


def test_the_oldest_go_first(
    client: Client, counts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(totals, "CACHE_SIZE", 2)
    for word in ("one", "two", "three", "two", "one"):
        total(client, f"/v1/projects?search={word}")
    assert len(counts) == 4
