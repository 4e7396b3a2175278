"""GET /v1/projects: its filters, its order and its pages (docs/api-conventions.md, "Lists")."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from app.projects import listing
from app.values import clock
from tests.make import Client, make_project, square, together

pytestmark = pytest.mark.both


@pytest.fixture
def projects(client: Client, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Five, a minute apart, the oldest first."""
    start, made = clock.now(), []
    for minute, name in enumerate(("Delta", "alpha", "Charlie", "bravo", "Echo")):
        monkeypatch.setattr(clock, "now", lambda m=minute: start + timedelta(minutes=m))
        size = (0.3, None, 0.1, 0.2, None)[minute]
        geometry = None if size is None else square(size=size)
        made.append(make_project(client, name=name, geometry=geometry))
    return made


def test_names_sort_by_code_point_without_regard_to_case(client: Client) -> None:
    for name in ("Öde Heide", "Zeder", "apfel", "Zürich"):
        make_project(client, name=name)
    assert _names(client, "?sort=name") == ["apfel", "Zeder", "Zürich", "Öde Heide"]


def _names(client: Client, query: str = "") -> list[str]:
    response = client.get(f"/v1/projects{query}")
    assert response.status_code == 200, response.json
    return [project["name"] for project in response.json["data"]]


@pytest.mark.usefixtures("projects")
def test_projects_come_in_the_order_asked_for(client: Client) -> None:
    """The newest first unless asked otherwise; names whatever their case; no area is smallest."""
    for query, names in (
        ("", "Echo bravo Charlie alpha Delta"),
        ("?sort=created_at&order=asc", "Delta alpha Charlie bravo Echo"),
        ("?order=asc", "Delta alpha Charlie bravo Echo"),
        ("?sort=name", "alpha bravo Charlie Delta Echo"),
        ("?sort=name&order=desc", "Echo Delta Charlie bravo alpha"),
        ("?sort=area_hectares", "alpha Echo Charlie bravo Delta"),
        ("?sort=area_hectares&order=desc", "Delta bravo Charlie Echo alpha"),
    ):
        assert _names(client, query) == names.split(), query


def test_status_filters(client: Client, projects: list[dict[str, Any]]) -> None:
    for project, word in zip(projects, ("draft", "archived", "archived"), strict=False):
        client.put(f"/v1/projects/{project['id']}", json={"status": word})
    expected = {"active": "Echo bravo", "archived": "Charlie alpha", "draft": "Delta"}
    for status, names in expected.items():
        assert _names(client, f"?status={status}") == names.split()
    assert client.get("/v1/projects").json["meta"]["total"] == 5


@pytest.mark.usefixtures("projects")
def test_a_page_has_its_part_of_the_list(client: Client, stranger: Client) -> None:
    for query, names, page, per_page, pages in (
        ("", "Echo bravo Charlie alpha Delta", 1, 20, 1),
        ("?per_page=2", "Echo bravo", 1, 2, 3),
        ("?per_page=2&page=3", "Delta", 3, 2, 3),
        ("?per_page=2&page=4", "", 4, 2, 3),
        ("?per_page=2&page=1000000", "", 1_000_000, 2, 3),
        ("?per_page=5", "Echo bravo Charlie alpha Delta", 1, 5, 1),
    ):
        body = client.get(f"/v1/projects{query}").json
        assert [project["name"] for project in body["data"]] == names.split()
        meta = {"total": 5, "page": page, "per_page": per_page, "total_pages": pages}
        assert body["meta"] == meta
    nothing = {"total": 0, "page": 1, "per_page": 20, "total_pages": 0}
    assert stranger.get("/v1/projects").json == {"data": [], "meta": nothing}


@pytest.mark.usefixtures("projects")
def test_link_header_leads_to_the_other_pages(client: Client) -> None:
    for query, links in (
        ("?per_page=2", {"first": 1, "next": 2, "last": 3}),
        ("?per_page=2&page=2", {"first": 1, "prev": 1, "next": 3, "last": 3}),
        ("?per_page=2&page=9", {"first": 1, "prev": 3, "last": 3}),
        ("?per_page=2&status=draft", {"first": 1, "last": 1}),
    ):
        found = _links(client.get(f"/v1/projects{query}").headers["Link"])
        assert set(found) == set(links)
        for rel, number in links.items():
            meta = client.get(found[rel]).json["meta"]
            assert (meta["page"], meta["per_page"]) == (number, 2)


@pytest.mark.usefixtures("projects")
def test_links_keep_the_filters(client: Client) -> None:
    query = "?per_page=1&search=%20A%26b%3D%C3%A4&sort=name&status=active&bbox=1,2,3,4"
    for link in _links(client.get(f"/v1/projects{query}").headers["Link"]).values():
        assert client.get(link).status_code == 200
        assert "search=+A%26b%3D%C3%A4" in link
        assert "status=active" in link


def _links(header: str) -> dict[str, str]:
    parts = [part.strip().split("; rel=") for part in header.split(", ")]
    return {rel.strip('"'): target.strip("<>") for target, rel in parts}


@pytest.mark.parametrize("query", ["", "?bbox=9,49,11,51", "?search=forest"])
def test_one_that_is_added_after_the_count_pushes_none_off(
    client: Client, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    first = make_project(client, geometry=square())
    read = listing.page_rows

    def add_and_read(*args: Any, **options: Any) -> Any:
        together(partial(make_project, client, geometry=square()))
        return read(*args, **options)

    monkeypatch.setattr(listing, "page_rows", add_and_read)
    assert first["name"] in _names(client, query)
