"""The page of all assets, without scripts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.make import Browser, Client, make_asset, make_project, point

SCRIPT = {"X-Requested-With": "fetch"}


def names(browser: Browser, query: str = "") -> list[str]:
    """The names of the assets on a page of the list."""
    text = browser.get(f"/assets{query}").response.get_data(as_text=True)
    return [
        part.partition(">")[2].partition("<")[0] for part in text.split('class="asset-name"')[1:]
    ]


def on_map(browser: Browser, query: str = "") -> list[str]:
    """The names of the assets on the map, sorted."""
    value = json.loads(browser.get(f"/assets/map{query}", headers=SCRIPT).response.data)
    assert value["isAll"]
    return sorted(feature["properties"]["name"] for feature in value["features"])


@pytest.fixture
def forest(client: Client) -> dict[str, Any]:
    """A project with three assets, beside one with another."""
    project = make_project(client, name="North Wood")
    make_asset(
        client,
        project["id"],
        name="Tower",
        type="fire_tower",
        location=point(10, 50),
        external_id="FT-9",
    )
    make_asset(client, project["id"], name="Pump", status="maintenance", location=point(11, 51))
    make_asset(client, project["id"], name="Gate", status="locked")
    other = make_project(client, name="South Wood")
    make_asset(client, other["id"], name="Saw", location=point(-60, -10))
    return project


def test_assets_of_all_projects_are_listed(browser: Browser, forest: dict[str, Any]) -> None:
    assert names(browser) == ["Saw", "Gate", "Pump", "Tower"]
    page = browser.page
    assert page is not None
    assert page.title == "Assets"
    assert "4 assets" in page.text
    assert "North Wood" in page.text
    assert "fire tower" in page.text
    assert "no location" in page.text


@pytest.mark.both
def test_the_filters_of_the_address(browser: Browser, forest: dict[str, Any]) -> None:
    project_id = forest["id"]
    assert names(browser, "?search=TOW") == ["Tower"]
    assert names(browser, "?search=ft-9") == ["Tower"]
    assert names(browser, "?status=maintenance") == ["Pump"]
    assert names(browser, "?type=fire_tower") == ["Tower"]
    assert names(browser, f"?project_id={project_id}") == ["Gate", "Pump", "Tower"]
    assert names(browser, "?bbox=10.5,50,12,52") == ["Pump"]
    assert names(browser, "?sort=oldest") == ["Tower", "Pump", "Gate", "Saw"]
    assert names(browser, "?changed=7&status=locked") == ["Gate"]


def test_wrong_filters_are_told_and_left_out(browser: Browser, forest: dict[str, Any]) -> None:
    query = "?status=Not/a/word&bbox=1,2&sort=x&page=0&changed=9"
    assert len(names(browser, query)) == 4
    assert browser.page is not None
    assert "status: Must begin with a letter or digit" in browser.page.text
    assert "changed: Must be one of: 1, 7, 30." in browser.page.text


def test_a_project_is_chosen_by_what_is_typed(
    browser: Browser, client: Client, forest: dict[str, Any]
) -> None:
    assert names(browser, "?project=north") == ["Gate", "Pump", "Tower"]
    assert names(browser, "?project=south-wood") == ["Saw"]
    assert names(browser, f"?project=South+Wood&project_id={forest['id']}") == ["Saw"]
    assert names(browser, f"?project=&project_id={forest['id']}") == [
        "Saw",
        "Gate",
        "Pump",
        "Tower",
    ]
    page = browser.get("/assets?project=wood")
    assert "Several projects match" in page.text
    assert f"/assets?project_id={forest['id']}" in page.links
    assert "No project is called this" in browser.get("/assets?project=east").text
    marks = "%CC%81" * 40
    assert "combining marks" in browser.get(f"/assets?project=a{marks}").text


def test_pages_of_the_list(browser: Browser, client: Client) -> None:
    project = make_project(client)
    for number in range(51):
        make_asset(client, project["id"], name=f"Post {number}")
    assert len(names(browser)) == 50
    assert browser.page is not None
    assert "Page 1 of 2" in browser.page.text
    assert "/assets?page=2" in browser.page.links
    assert names(browser, "?page=2") == ["Post 0"]


@pytest.mark.both
def test_the_map_has_what_the_filters_leave(browser: Browser, forest: dict[str, Any]) -> None:
    assert on_map(browser) == ["Pump", "Saw", "Tower"]
    assert on_map(browser, "?bbox=0,40,20,60") == ["Pump", "Tower"]
    assert on_map(browser, "?status=maintenance") == ["Pump"]
    assert on_map(browser, f"?project_id={forest['id']}&search=ow") == ["Tower"]
    assert on_map(browser, "?changed=1&type=equipment") == ["Pump", "Saw"]
    page = browser.get("/assets/map?search=ow", headers=SCRIPT).response
    assert json.loads(page.data)["bbox"] == [10, 50, 10, 50]


def test_the_map_is_as_empty_as_the_list(browser: Browser, forest: dict[str, Any]) -> None:
    for query in ["?project=wood", "?project=east", "?project_id=proj_x"]:
        page = browser.get(f"/assets{query}").response.get_data(as_text=True)
        address = page.partition('data-map="')[2].partition('"')[0].removeprefix("/assets/map")
        assert address == query
        assert on_map(browser, address) == []


WRONG = ["bbox=190,0,200,10", "status=Not%2Fa%2Fword", "changed=9"]


def test_no_more_is_sent_than_was_asked_for(browser: Browser) -> None:
    for wrong in WRONG:
        for path in ["/assets/map", "/assets/export"]:
            page = browser.get(f"{path}?{wrong}", headers=SCRIPT | {"Accept": "*/*"})
            assert page.status == 400
            message = page.response.get_json(force=True)["error"]["message"]
            assert f"{wrong.partition('=')[0]}: " in message
            assert "{" not in message


def test_assets_are_exported(browser: Browser, forest: dict[str, Any], client: Client) -> None:
    def exported(page: Any) -> list[str]:
        features = json.loads(page.response.data)["features"]
        return sorted(feature["properties"]["name"] for feature in features)

    assert exported(browser.get("/assets/export?status=maintenance")) == ["Pump"]
    assert exported(browser.get("/assets/export?project=north&changed=7")) == [
        "Gate",
        "Pump",
        "Tower",
    ]
    assert browser.get("/assets/export?project=wood").status == 400
    page = browser.get("/assets/export?format=eudr&type=equipment")
    assert page.status == 400
    assert "Only assets of type plot are plots." in page.text
    saw = client.get("/v1/assets?search=Saw").json["data"][0]["id"]
    browser.get("/assets")
    page = browser.submit("/assets/export", ids=saw, format="csv")
    assert page.response.mimetype == "text/csv"
    assert page.response.data.count(b"\r\n") == 2
