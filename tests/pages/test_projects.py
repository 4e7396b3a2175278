"""The list and the map of projects."""

from __future__ import annotations

import io
import zipfile

import orjson
import pytest
from flask import Flask

from app.http.errors import ServiceUnavailable
from app.limits import counting
from tests.make import Browser, Client, make_account, make_project, square
from tests.pages.support import browser_of, json_of, post

HTMX = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def client(app: Flask) -> Client:
    """An account for all of these tests."""
    return make_account(app)


@pytest.fixture(scope="module", autouse=True)
def projects(client: Client) -> dict[str, str]:
    """The ids of some projects, by their names."""
    made = {
        name: make_project(client, name=name, geometry=square(west, 50, size))["id"]
        for name, west, size in (("Alder", 10, 0.1), ("Birch", 20, 0.2), ("Beech", 30, 0.3))
    }
    made["Ash"] = make_project(client, name="Ash")["id"]
    made["Elm"] = make_project(client, name="Elm", geometry=square(40, 50))["id"]
    client.post(f"/v1/projects/{made['Elm']}/archive")
    return made


def names(page: object) -> list[str]:
    text = getattr(page, "text")  # noqa: B009
    return [name for name in ("Alder", "Ash", "Beech", "Birch", "Elm") if f" {name} " in text]


def test_active_projects_are_listed_by_name(owner: Browser) -> None:
    page = owner.get("/projects")
    assert names(page) == ["Alder", "Ash", "Beech", "Birch"]
    assert "4 projects" in page.text
    assert "no boundary" in page.text


@pytest.mark.both
def test_filters_in_the_address(owner: Browser) -> None:
    for query, found in [
        ("search=BEE", ["Beech"]),
        ("status=archived", ["Elm"]),
        ("status=any", ["Alder", "Ash", "Beech", "Birch", "Elm"]),
        ("bbox=19,49,31,52", ["Beech", "Birch"]),
        ("bbox=19,49,31,52&search=bir", ["Birch"]),
        ("search=nothing", []),
    ]:
        assert names(owner.get(f"/projects?{query}")) == found
    assert "If it is a place, use Go to a place" in owner.get("/projects?search=nothing").text


def test_the_largest_come_first(owner: Browser) -> None:
    text = owner.get("/projects?sort=area").text
    assert text.index(" Beech ") < text.index(" Birch ") < text.index(" Alder ")


def test_a_wrong_filter_is_told_and_left_out(owner: Browser) -> None:
    for query in ["bbox=1,2", "page=0", "status=burnt", "sort=luck"]:
        page = owner.get(f"/projects?{query}")
        assert page.status == 200
        assert "Alder" in page.text
        assert (query.partition("=")[0] in page.text) or query == "sort=luck"


def test_a_script_gets_the_list_alone(owner: Browser) -> None:
    page = owner.get("/projects?search=alder", headers=HTMX)
    assert names(page) == ["Alder"]
    assert "<html" not in page.response.get_data(as_text=True)


def test_a_script_that_is_signed_out_is_told(client: Client) -> None:
    page = Browser(client.app).get("/projects", headers=HTMX, follow=False)
    assert page.status == 401
    assert Browser(client.app).get("/projects").title == "Sign in"


@pytest.mark.both
def test_the_map_has_the_shapes_of_the_filters(owner: Browser) -> None:
    found = json_of(owner, "/projects/map?zoom=8&status=active")
    assert {each["properties"]["name"] for each in found["features"]} == {"Alder", "Birch", "Beech"}
    found = json_of(owner, "/projects/map?zoom=8&search=bir&bbox=0,0,60,60")
    assert [each["properties"]["name"] for each in found["features"]] == ["Birch"]
    assert found["numberMatched"] == 1


def test_the_map_of_a_search_follows_changes(client: Client, owner: Browser) -> None:
    path = "/projects/map?zoom=8&search=rowan"
    assert json_of(owner, path)["features"] == []
    made = make_project(client, name="Rowan", geometry=square(50, 50))
    assert len(json_of(owner, path)["features"]) == 1
    client.post(f"/v1/projects/{made['id']}/archive")
    assert client.delete(f"/v1/projects/{made['id']}").status_code == 204
    assert json_of(owner, path)["features"] == []


def test_another_account_sees_nothing_of_it(stranger: Client) -> None:
    browser = browser_of(stranger)
    assert names(browser.get("/projects?status=any")) == []
    assert json_of(browser, "/projects/map?zoom=8")["features"] == []
    assert json_of(browser, "/projects/map?zoom=8&search=alder")["features"] == []


def test_selected_projects_are_archived_and_restored(
    owner: Browser, projects: dict[str, str], stranger: Client
) -> None:
    foreign = make_project(stranger, name="Foreign")["id"]
    ids = [projects["Alder"], projects["Elm"], foreign, "nonsense"]
    assert post(owner, "/projects/archive", ids=ids).status == 303
    text = owner.get("/projects").text
    assert "Archived 1 project. 3 projects could not be" in text  # Elm was archived before
    assert stranger.get(f"/v1/projects/{foreign}").json["data"]["status"] == "active"
    back = "/projects?status=archived&search=a"
    page = post(owner, "/projects/restore", ids=[projects["Alder"]], back=back)
    assert page.response.headers["Location"] == back
    assert "Restored 1 project." in owner.get("/projects").text
    page = post(owner, "/projects/restore", ids=[projects["Alder"]], back="//evil.example")
    assert page.response.headers["Location"] == "/projects"
    assert post(owner, "/projects/archive").status == 303
    assert "Select the projects" in owner.get("/projects").text


def test_selected_or_filtered_projects_are_exported(
    owner: Browser, projects: dict[str, str]
) -> None:
    page = post(owner, "/projects/export", ids=[projects["Birch"]], format="geojson")
    features = orjson.loads(page.response.get_data())["features"]
    assert [each["properties"]["name"] for each in features] == ["Birch"]
    page = owner.get("/projects/export?format=geojson&search=be&status=any")
    features = orjson.loads(page.response.get_data())["features"]
    assert [each["properties"]["name"] for each in features] == ["Beech"]
    assert "/projects/export?format=kml" in owner.get("/projects").links
    page = owner.get(f"/projects/export?format=shp&ids={projects['Birch']}")
    assert zipfile.ZipFile(io.BytesIO(page.response.get_data())).namelist()
    page = owner.get("/projects/export?format=xls")
    assert page.status == 400
    assert "format: Must be one of" in page.text


def test_no_more_is_sent_than_was_asked_for(owner: Browser) -> None:
    for wrong in ["bbox=190,0,200,10", "status=burnt", "search=%00"]:
        for path in ["/projects/map?zoom=8", "/projects/export?format=geojson"]:
            page = owner.get(f"{path}&{wrong}", headers={"Accept": "*/*"})
            assert page.status == 400
            message = page.response.get_json(force=True)["error"]["message"]
            assert f"{wrong.partition('=')[0]}: " in message
            assert "{" not in message


def test_the_map_has_the_status_that_the_list_has(owner: Browser) -> None:
    page = owner.get("/projects?status=burnt")
    assert "Elm" not in names(page)
    assert 'data-map="/projects/map"' in page.response.get_data(as_text=True)


@pytest.mark.slow
def test_pages_of_a_long_list(client: Client) -> None:
    long = make_account(client.app)
    for number in range(51):
        make_project(long, name=f"Wood {number:02}")
    browser = browser_of(long)
    page = browser.get("/projects?search=wood")
    assert "Page 1 of 2" in page.text
    following = next(link for link in page.links if "page=2" in link)
    page = browser.get(following)
    assert "Wood 50" in page.text
    assert "Page 2 of 2" in page.text


def test_a_failure_is_a_page_even_if_nothing_can_be_read(
    owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ServiceUnavailable

    monkeypatch.setattr("app.pages.projects.views.list_projects", fail)
    monkeypatch.setattr("app.site.pages.accounts_of", fail)
    page = owner.get("/projects")
    assert page.status == 503
    assert "Temporarily unavailable" in page.text


def test_a_script_that_never_stops_is_held_back(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = counting.PAGE_REQUESTS._replace(requests=3)
    monkeypatch.setattr(counting, "PAGE_REQUESTS", few)
    viewer = browser_of(client, "viewer")
    path = "/projects/map?zoom=3"
    headers = {"X-Requested-With": "fetch", "Accept": "*/*"}
    found = [viewer.get(path, headers=headers).status for _ in range(4)]
    assert found == [200, 200, 200, 429]
    assert [viewer.get(path).status for path in ("/profile", "/applications")] == [429, 429]
