"""GET /docs: complete, with a way in, and with the reader's own address."""

from __future__ import annotations

import json
import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from flask import Flask

from app import demo
from app.api.openapi.document import api_description
from app.policy import deliveries, plans
from app.policy.causes import CONFLICTS, FORBIDDEN, INVALID
from app.policy.events import EVENTS
from app.policy.permissions import PERMISSIONS, SCOPES
from app.reference.document import Operation, operation_groups
from app.values.text import slugify
from tests.make import Client, second_app
from tests.reference import commands

DEMO = Path(demo.__file__).with_name("districts.geojson")
ADDRESS = "https://canopy.forest.org"


@pytest.fixture(scope="module")
def page(app: Flask) -> str:
    return app.test_client().get("/docs", base_url=ADDRESS).get_data(as_text=True)


@pytest.fixture(scope="module")
def shown(app: Flask) -> dict[str, Operation]:
    """What the page shows of each operation."""
    with app.app_context():
        return {
            each.id: each
            for group in operation_groups(api_description())
            for each in group.operations
        }


def _text(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())


def test_every_operation_is_an_entry(app: Flask, page: str) -> None:
    document = app.test_client().get("/v1/openapi.json").json
    for path, item in document["paths"].items():
        for method in {"get", "post", "put", "delete"} & set(item):
            assert f'<article id="{item[method]["operationId"]}">' in page
            assert item[method]["summary"].rstrip(".") in unescape(page)
        assert path in page


def test_put_and_patch_are_one_entry(shown: dict[str, Operation]) -> None:
    update = shown["update_project"]
    assert update.method == "PUT or PATCH"
    assert not any(name.startswith("patch_") for name in shown)
    assert update.curl.startswith("curl -X PATCH ")
    assert any("`PUT` and `PATCH` do the same" in paragraph for paragraph in update.description)


def test_every_link_within_the_page_leads_somewhere(page: str) -> None:
    names = Counter(re.findall(r' id="([^"]+)"', page))
    assert set(names.values()) == {1}
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert len(links) > 40
    assert links <= set(names)


def test_the_tables_of_the_policy_are_on_it(page: str) -> None:
    text = _text(page)
    for name in (*EVENTS, *PERMISSIONS, *SCOPES, *plans.PLANS, *INVALID, *FORBIDDEN, *CONFLICTS):
        assert name in text
    assert "after 1 minute, 5 minutes, 30 minutes, 2 hours and 1 day" in text
    assert f"up to {deliveries.ATTEMPTS} attempts in total" in text
    assert "within 5 seconds" in text


def test_commands_have_the_address_of_the_reader(app: Flask, page: str) -> None:
    for command in commands(page):
        assert f"{ADDRESS}/v1/" in command.text
    other = app.test_client().get("/docs", base_url="http://127.0.0.1:8123")
    assert ADDRESS not in other.get_data(as_text=True)
    assert "curl 'http://127.0.0.1:8123/v1/auth/verify'" in _text(other.get_data(as_text=True))
    assert ".invalid" not in page


def test_commands_create_projects_whose_names_are_free_in_a_new_instance(page: str) -> None:
    pattern = re.compile(r"""/v1/projects' .*?-d '{\s*"name": "([^"]+)\"""", re.DOTALL)
    names = [found[1] for each in commands(page) if (found := pattern.search(each.text))]
    districts = json.loads(DEMO.read_bytes())["features"]
    taken = [one["properties"]["district"] for one in districts]
    slugs = [slugify(name) for name in (*names, *taken, "My first forest")]
    assert len(names) == 3
    assert len(set(slugs)) == len(slugs)


def test_the_example_of_an_error_is_what_a_client_gets(client: Client, page: str) -> None:
    error = client.post("/v1/projects", json={}).json["error"]
    (detail,) = error["details"]
    shown = unescape(page)
    assert f'"code": "{error["code"]}",\n    "message": "{error["message"]}"' in shown
    assert f'"details": [{json.dumps(detail)}]' in shown


def test_commands_have_the_public_address_where_one_is_set(app: Flask) -> None:
    with second_app(app, public_url="https://trees.example.org", public_url_is_set=True) as made:
        page = made.test_client().get("/docs", base_url=ADDRESS).get_data(as_text=True)
    assert "https://trees.example.org/v1/projects" in page
    assert "https://trees.example.org/oauth/authorize" in page
    assert ADDRESS not in page


def test_the_document_names_the_address_for_support(app: Flask) -> None:
    with second_app(app, support_email="help@example.org") as made:
        contact = made.test_client().get("/v1/openapi.json").json["info"]["contact"]
    assert contact["email"] == "help@example.org"
    assert "email" not in app.test_client().get("/v1/openapi.json").json["info"]["contact"]


def test_a_host_that_is_none_does_not_get_into_the_page(app: Flask) -> None:
    for host in ['a"><script>', "a';id;'", "$(id)", "a<b", "`id`"]:
        answer = app.test_client().get("/docs", headers={"Host": host})
        assert host not in unescape(answer.get_data(as_text=True))


def test_fields_have_their_types_and_bounds(shown: dict[str, Operation]) -> None:
    create = {field.name: field for field in shown["create_project"].body}
    assert "status" not in create
    assert "id" not in create
    assert create["name"].required
    assert create["name"].text == "1 to 200 characters."
    assert create["geometry"].type == "Polygon or MultiPolygon or null"
    events = {field.name: field for field in shown["create_webhook"].body}["events"]
    assert events.type == "list of strings"
    assert "`project.created`" in events.text
    assert "`*`" in events.text
    assert f"1 to {len(EVENTS) + 1} items." in events.text
    query = {field.name: field for field in shown["list_projects"].parameters}
    assert query["per_page"].text == "Number of records per page. 1 to 100. Default `20`."
    assert query["status"].text.endswith("One of `active`, `archived`, `draft`.")
    replay = {field.name: field for field in shown["replay_events"].body}
    assert replay["only_failed"].text.endswith("Default `false`.")
    assert {field.name for field in shown["list_projects"].success.fields} >= {"id", "geometry"}


def test_other_forms_of_a_body_are_shown(shown: dict[str, Operation]) -> None:
    check = shown["validate_geometry"]
    assert [field.name for field in check.body] == ["geometry", "overlaps", "project_id"]
    assert check.alternative_body == "A GeoJSON geometry, valid or not."
