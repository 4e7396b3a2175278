"""The pages for people: what they show, and that nothing in them runs."""

from __future__ import annotations

import re

import pytest
from werkzeug.test import TestResponse

from app.values.clock import parse_time
from app.values.formats import format_in
from tests.make import Client, make_asset, make_project, multi_square, point, square

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def page(client: Client, path: str) -> str:
    response = client.get(path, headers=BROWSER)
    assert response.status_code == 200, response.get_data(as_text=True)
    assert response.content_type == "text/html; charset=utf-8"
    return response.get_data(as_text=True)


@pytest.fixture
def filled(client: Client) -> dict[str, str]:
    project = make_project(client, name="Hazel", geometry=square(10, 50), metadata={"k": "v"})
    make_project(client, name="Isles", geometry=multi_square((179, -17), (-180, -17)))
    make_project(client, name="Nowhere")
    asset = make_asset(client, project["id"], name="Post", location=point(10, 50))
    return {"project": project["id"], "asset": asset["id"]}


PATHS = [
    "/ogc", "/ogc/conformance", "/ogc/api", "/ogc/collections", "/ogc/collections/projects",
    "/ogc/collections/projects/schema", "/ogc/collections/assets/queryables",
    "/ogc/collections/projects/items", "/ogc/collections/assets/items",
    "/ogc/collections/projects/items/{project}", "/ogc/collections/assets/items/{asset}",
]  # fmt: skip


def test_each_resource_is_a_page_for_a_browser(client: Client, filled: dict[str, str]) -> None:
    for path in PATHS:
        html = page(client, path.format(**filled))
        assert "<script>" not in html
        assert "style=" not in html
        assert " on" not in re.sub(r"<title>.*?</title>|>[^<]*<", "><", html)


def test_programs_get_json(client: Client, filled: dict[str, str]) -> None:
    for path in PATHS:
        accepted = ["*/*", "application/json", "application/geo+json, application/json", ""]
        for accept in accepted:
            response = client.get(path.format(**filled), headers={"Accept": accept})
            assert "json" in response.content_type
        assert "json" in client.get(f"{path.format(**filled)}?f=json", headers=BROWSER).content_type
        assert client.get(f"{path.format(**filled)}?f=html").content_type.startswith("text/html")


def test_features_are_on_a_map_with_links(client: Client, filled: dict[str, str]) -> None:
    html = page(client, "/ogc/collections/projects/items")
    assert "3 projects" in html
    assert html.count('<path class="forest"') == 2
    assert f'href="/ogc/collections/projects/items/{filled["project"]}?f=html"' in html
    html = page(client, "/ogc/collections/assets/items")
    assert html.count('<circle class="dot"') == 1
    html = page(client, f"/ogc/collections/projects/items/{filled['project']}")
    assert '<path class="forest"' in html
    assert '<th scope="row">k</th><td>v</td>' in html


def test_pages_follow_each_other(client: Client) -> None:
    for number in range(3):
        make_project(client, name=f"P{number}", geometry=square(10 + number, 50))
    html = page(client, "/ogc/collections/projects/items?f=html&limit=2&bbox=9,49,20,60")
    (href,) = re.findall(r'href="([^"]+)" rel="next"', html)
    assert "f=html" in href
    assert "bbox=9%2C49%2C20%2C60" in href
    html = page(client, href.replace("&amp;", "&").removeprefix("http://localhost"))
    assert "P2" in html
    assert 'rel="next"' not in html


def test_errors_are_pages_for_browsers(client: Client) -> None:
    def get(path: str) -> TestResponse:
        return client.get(path, headers=BROWSER)

    assert "Page not found" in get("/ogc/collections/projects/items/x").get_data(as_text=True)
    response = get("/ogc/collections/projects/items?limit=x")
    assert response.status_code == 400
    assert "<code>limit</code>: Must be a whole number" in response.get_data(as_text=True)
    response = client.get("/ogc/collections/projects/items?limit=x&f=json", headers=BROWSER)
    assert "json" in response.content_type
    response = client.nobody().get("/ogc/collections/projects/items?limit=5", headers=BROWSER)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Basic")
    html = response.get_data(as_text=True)
    assert "<h1>Sign in to see this page</h1>" in html
    assert 'href="/login?next=%2Fogc%2Fcollections%2Fprojects%2Fitems%3Flimit%3D5"' in html


def test_values_are_shown_for_people(client: Client) -> None:
    metadata = {"planted": 12345.678, "checked": "2026-01-01T00:00:00Z"}
    project = make_project(client, geometry=square(10, 50), metadata=metadata)
    html = page(client, f"/ogc/collections/projects/items/{project['id']}")
    hectares = f"{project['area_hectares']:,.2f}"
    assert "," in hectares
    assert f'<th scope="row">area_hectares</th><td>{hectares}</td>' in html
    changed = f"{format_in('en').moment(parse_time(project['updated_at']))} UTC"
    shown = f'<time datetime="{project["updated_at"]}">{changed}</time>'
    assert f'<th scope="row">updated_at</th><td>{shown}</td>' in html
    assert '<th scope="row">planted</th><td>12345.678</td>' in html
    assert '<th scope="row">checked</th><td>2026-01-01T00:00:00Z</td>' in html
