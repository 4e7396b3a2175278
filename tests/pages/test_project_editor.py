"""The pages on which projects are drawn and edited."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from app.geometry.countries import has_world
from app.pages.projects.editor.boundary_text import check_boundary
from app.values.strict_json import dumps
from tests.make import Browser, Client, make_project, multi_square, square
from tests.make.browser import Page
from tests.pages.support import json_of, metadata_of, post, text_of

ODD = {
    "a": 1.5,
    "lines": "one\ntwo\n",
    "first": '\n<b> & "',
    " spaced ": None,
    "years": [1998],
    "text": "1998",
}
needs_countries = pytest.mark.skipif(not has_world(), reason="the countries are not installed")
HTMX = {"HX-Request": "true", "Accept": "text/html"}
BOW_TIE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}


def fill_in(browser: Browser, path: str, **fields: Any) -> Page:
    """Fill in the form of a page and send it."""
    form = browser.get(path).form(path)
    return browser.send(path, **(form.fields | fields))


def id_of(page: Page) -> str:
    """The id of the project that a page leads to."""
    return page.response.headers["Location"].rpartition("/")[2].removesuffix("?saved")


def read(client: Client, project_id: str) -> Any:
    return client.get(f"/v1/projects/{project_id}").json["data"]


def test_a_new_project(client: Client, owner: Browser) -> None:
    page = fill_in(
        owner,
        "/projects/new",
        name="Hazel dell",
        external_id="H-1",
        description="A small wood",
        geometry=text_of(square()),
        metadata_name=["species", "age"],
        metadata_value=["hazel", "12"],
    )
    assert page.status == 303
    made = read(client, id_of(page))
    assert made["geometry"] == square()
    assert (made["name"], made["external_id"]) == ("Hazel dell", "H-1")
    assert made["metadata"] == {"species": "hazel", "age": "12"}
    assert made["status"] == "active"


@pytest.mark.both
def test_projects_may_have_one_name(client: Client, owner: Browser) -> None:
    for name, slugs in [
        ("My forest", ["my-forest", "my-forest-2", "my-forest-3", "my-forest-4"]),
        ("Admin", ["admin-2", "admin-3", "admin-4"]),
        ("x" * 200, ["x" * 63, "x" * 61 + "-2"]),
    ]:
        pages = [fill_in(owner, "/projects/new", name=name) for _ in slugs]
        made = [read(client, id_of(page)) for page in pages]
        assert [project["name"] for project in made] == [name] * len(slugs)
        assert [project["slug"] for project in made] == slugs
        assert client.post("/v1/projects", json={"name": name}).status_code == 409


def test_what_is_wrong_stands_at_its_field_and_nothing_is_lost(
    client: Client, owner: Browser
) -> None:
    for fields, message in [
        ({"name": ""}, "Must have 1 to 200 characters."),
        ({"geometry": text_of(BOW_TIE)}, "Two sides cross or touch here"),
        ({"geometry": "hello"}, "is neither WKT"),
        ({"geometry": "SRID=3857;POINT(1 2)"}, "WGS 84"),
        ({"external_id": "x" * 201}, "Must have 1 to 200 characters."),
        ({"metadata_name": ["a", "a"], "metadata_value": ["1", "2"]}, "is there twice"),
        ({"metadata_name": [""], "metadata_value": ["lost"]}, "needs a name"),
    ]:
        before = client.get("/v1/projects").json["meta"]["total"]
        typed = {
            "name": "Kept wood",
            "description": "Typed with care",
            "geometry": text_of(square()),
        }
        page = fill_in(owner, "/projects/new", **(typed | fields))
        assert page.status == 422
        assert message in page.text
        shown = page.form("/projects/new").fields
        for name, value in (typed | fields).items():
            if isinstance(value, str):
                assert shown[name] == value
        assert client.get("/v1/projects").json["meta"]["total"] == before


def test_a_taken_external_id_names_the_other(client: Client, owner: Browser) -> None:
    other = make_project(client, name="Taken name", external_id="T-1")
    page = fill_in(owner, "/projects/new", name="Free name", external_id="T-1")
    assert page.status == 409
    assert "The external id &#39;T-1&#39;" in page.response.get_data(as_text=True)
    assert other["id"] in page.text


@pytest.mark.both
def test_a_project_is_edited(client: Client, owner: Browser) -> None:
    project = make_project(client, geometry=square(), metadata={"n": 5, "tags": ["a"], "s": "5"})
    path = f"/projects/{project['id']}/edit"
    page = owner.get(path)
    assert orjson.loads(page.form(path).fields["geometry"]) == square()
    rows = metadata_of(page)
    page = fill_in(
        owner,
        path,
        metadata_was=rows["metadata_was"],
        name="Edited",
        status="draft",
        geometry="POLYGON ((10 50, 10.2 50, 10.2 50.1, 10 50.1, 10 50))",
        metadata_name=["n", "s", "tags", "new"],
        metadata_value=["6", "7", '["a","b"]', "8"],
    )
    assert page.status == 303, page.text
    now = read(client, project["id"])
    assert (now["name"], now["status"]) == ("Edited", "draft")
    assert now["metadata"] == {"n": 6, "tags": ["a", "b"], "s": "7", "new": "8"}
    assert now["geometry"]["coordinates"][0][1] == [10.2, 50]


def test_saving_what_is_there_changes_nothing(client: Client, owner: Browser) -> None:
    geometry = multi_square((10, 50), (11, 50))
    project = make_project(client, geometry=geometry, description="x", metadata=ODD)
    before = read(client, project["id"])
    path = f"/projects/{project['id']}/edit"
    assert fill_in(owner, path, **metadata_of(owner.get(path))).status == 303
    assert read(client, project["id"]) == before


def test_an_archived_project_keeps_its_status(client: Client, owner: Browser) -> None:
    project = make_project(client)
    client.post(f"/v1/projects/{project['id']}/archive")
    path = f"/projects/{project['id']}/edit"
    assert "status" not in owner.get(path).form(path).fields
    assert fill_in(owner, path, name="Archived wood", status="active").status == 303
    assert read(client, project["id"])["status"] == "archived"


def test_a_change_by_somebody_else_is_shown_and_not_overwritten(
    client: Client, owner: Browser
) -> None:
    project = make_project(client, name="Disputed", geometry=square())
    path = f"/projects/{project['id']}/edit"
    form = owner.get(path).form(path).fields
    theirs = {"name": "Theirs", "geometry": square(size=0.2)}
    client.put(f"/v1/projects/{project['id']}", json=theirs)
    page = owner.send(path, **(form | {"name": "Mine"}))
    assert page.status == 412
    assert "has saved this project" in page.text
    assert "Name Theirs Mine" in page.text
    assert read(client, project["id"])["name"] == "Theirs"
    again = page.form(path).fields
    assert again["name"] == "Mine"
    assert orjson.loads(again["geometry"]) == square()
    assert owner.send(path, **again).status == 303
    assert read(client, project["id"])["name"] == "Mine"


def test_a_script_gets_the_form_or_where_to_go(client: Client, owner: Browser) -> None:
    token = {"csrf_token": owner.get("/projects/new").form("/projects/new").fields["csrf_token"]}
    page = owner.send("/projects/new", HTMX, **token, name="")
    assert page.status == 422
    assert "<html" not in page.response.get_data(as_text=True)
    page = owner.send("/projects/new", HTMX, **token, name="By script")
    assert page.status == 200
    assert page.response.headers["HX-Redirect"].startswith("/projects/proj_")


def test_a_boundary_is_checked_while_it_is_drawn(client: Client, owner: Browser) -> None:
    other = make_project(client, name="Neighbor", geometry=square(80, 10))
    page = post(owner, "/projects/check", geometry=text_of(square(80.05, 10)), project_id="")
    data = page.response.get_json()["data"]
    assert data["problems"] == []
    assert data["area_hectares"] > 10_000
    assert [each["project_id"] for each in data["overlaps"]] == [other["id"]]
    fields = {"geometry": text_of(square(80.05, 10)), "project_id": other["id"]}
    data = post(owner, "/projects/check", **fields).response.get_json()["data"]
    assert data["overlaps"] == []


@needs_countries
def test_a_boundary_says_where_it_lies_and_is_asked_about(
    client: Client, owner: Browser, subtests: pytest.Subtests
) -> None:
    """In Saudi Arabia, and in Romania with its numbers swapped."""
    turned = "POLYGON((46.60 23.90, 46.60 23.91, 46.61 23.91, 46.60 23.90))"
    right = "POLYGON((23.90 46.60, 23.91 46.60, 23.91 46.61, 23.90 46.60))"

    def checked(text: str, project_id: str = "") -> Any:
        sent = post(owner, "/projects/check", geometry=text, project_id=project_id)
        return sent.response.get_json()["data"]

    data = checked(turned)
    assert data["where"].startswith("In Saudi Arabia, ")
    assert data["where"].endswith("23.9050°\N{NO-BREAK SPACE}N 46.6025°\N{NO-BREAK SPACE}E")
    assert data["question"] is None  # it is the first
    project = make_project(client, geometry=square(22.9, 46.4))
    data = checked(turned)
    assert data["question"]["message"] == (
        "None of your projects is in Saudi Arabia. Is this the right place?"
    )
    words = "With latitude and longitude swapped, it would lie in Romania, "
    assert data["question"]["swapped"].startswith(words)
    assert checked(right)["question"] is None
    for name, text, message, swapped in (
        ("abroad", "POLYGON((19 47, 19.1 47, 19 47.1, 19 47))", "in Hungary.", False),
        ("in the sea", "POLYGON((-30 0, -29 0, -29 1, -30 0))", "is in no country.", False),
    ):
        with subtests.test(name):
            question = checked(text)["question"]
            assert message in question["message"]
            assert bool(question["swapped"]) is swapped
    made = make_project(client, geometry=square(46.6, 23.9))
    assert checked(turned, made["id"])["question"] is None  # where it has been saved
    assert checked("")["where"] is None
    assert fill_in(owner, "/projects/new", name="Taken all the same", geometry=turned).status == 303
    assert json_of(owner, f"/projects/{project['id']}/where").startswith("In Romania, ")
    assert json_of(owner, f"/projects/{make_project(client)['id']}/where") == ""


def test_an_invalid_boundary_says_where(owner: Browser) -> None:
    text = "POLYGON((0 0, 1 1, 1 0, 0 1, 0 0))"
    data = post(owner, "/projects/check", geometry=text).response.get_json()["data"]
    assert data["area_hectares"] is None
    assert data["geometry"] == BOW_TIE
    (problem,) = data["problems"]
    assert problem["coordinates"] == [0.5, 0.5]
    assert problem["message"].startswith("Two sides cross")


def test_boundaries_as_people_paste_them() -> None:
    for text, parts in [
        (text_of({"type": "Feature", "properties": {}, "geometry": square()}), 1),
        (
            text_of(
                {
                    "type": "FeatureCollection",
                    "features": [
                        {"type": "Feature", "properties": {}, "geometry": square()},
                        {"type": "Feature", "geometry": multi_square((11, 50), (12, 50))},
                    ],
                }
            ),
            3,
        ),
        ("MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((2 0, 3 0, 3 1, 2 0)))", 2),
        ("SRID=4326;POLYGON ((0 0, 1 0, 1 1, 0 0))", 1),
    ]:
        checked = check_boundary(text)
        assert checked.problems == []
        assert checked.boundary is not None
        geometry = orjson.loads(checked.boundary.text)
        found = [geometry] if geometry["type"] == "Polygon" else geometry["coordinates"]
        assert len(found) == parts


def test_other_texts_have_problems() -> None:
    for text in [
        '{"type":"FeatureCollection","features":[]}',
        '{"type":"FeatureCollection","features":5}',
        '{"type":"FeatureCollection"}',
        '{"type":"FeatureCollection","features":[{"geometry":null},{"geometry":[]}]}',
        '{"type":"Feature","geometry":5}',
        '{"type":"Polygon"}',
        "{",
        "POLYGON((",
        "POINT (1 2)",
        "5",
        "[]",
        '{"type":"Feature","geometry":' * 300 + "1" + "}" * 300,
        '{"type":"Polygon","coordinates":' + "[" * 300 + "]" * 300 + "}",
    ]:
        checked = check_boundary(text)
        assert checked.boundary is None
        assert checked.problems
        dumps(checked.geometry)  # as the map gets it
