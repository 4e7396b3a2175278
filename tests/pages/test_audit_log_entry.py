"""An entry of the audit log, opened: values, ways, and the picture of a changed boundary."""

from __future__ import annotations

from typing import Any

from app.audit.origin import Actor, Via
from tests.make import (
    Browser,
    Client,
    audit_entries,
    make_account,
    make_entry,
    make_project,
    square,
)
from tests.make.audit import ANA

PATH = "/audit-log"
OPERATOR = Actor("operator", None, "Operator")


def test_ways_are_told_in_words(client: Client, owner: Browser) -> None:
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    application = {"id": "app_01arz3ndektsv4rrffq69g5fav", "label": "Field map"}
    for actor, via, words in (
        (ANA, Via(ip="203.0.113.7", user_agent=firefox), "from 203.0.113.7, Firefox on Linux"),
        (ANA, Via(application=application), "ana@forest.example.org through Field map changed"),
        (OPERATOR, Via(user_agent="bin/canopy account update"), "Operator changed the project"),
        (
            OPERATOR,
            Via(user_agent="bin/canopy account update"),
            "Command bin/canopy account update",
        ),
        (Actor("system", None, "Database"), Via(), "Database changed the project"),
        (Actor("service_token", None, "Nightly"), Via(), "service token Nightly"),
    ):
        make_entry(client, actor=actor, via=via)
        assert words in owner.get(PATH).text


def test_values_are_told_in_words(client: Client, owner: Browser) -> None:
    for name, former, value, words in (
        ("permissions", None, ["projects:read"], "See projects and check geometries"),
        ("project_ids", ["proj_1"], None, "all projects"),
        ("ip_allowlist", ["203.0.113.0/24"], [], "any address"),
        ("events", ["asset.created"], ["*"], "all events except audit.entry"),
        ("enabled", True, False, "no"),
        ("description", "Beech", None, "not set"),
        ("status", "active", "out_of_use", "out of use"),
        ("area_hectares", 1, 1234.5, "1,234.50 ha"),
        ("expires_at", None, "2026-01-31T14:05:00.000Z", "01/31/2026, 2:05 PM UTC"),
        ("location", None, {"type": "Point", "coordinates": [10.5, 50]}, "50.0000° N 10.5000"),
        ("metadata", {"a": 1, "owner": "x"}, {"a": 1, "owner": "y"}, "Metadata: owner x y"),
        ("metadata", None, {"deep": {"er": [1]}}, 'Metadata: deep not set er: [1]'),
        ("metadata", None, {"planted": 12024}, "Metadata: planted not set 12024"),
        ("key_1", ["projects:read"], [], "none anymore: it is revoked"),
        ("new", None, 1200, "1,200"),
        ("of_a_later_version", {"x": [1]}, {}, "empty"),
        ("project_ids", None, [f"proj_{n}" for n in range(60)], "proj_49 and 10 more"),
    ):  # fmt: skip
        entry_id = make_entry(client, changes={name: {"from": former, "to": value}})
        page = owner.get(f"{PATH}?actor_id={ANA.id}")
        newest = page.text.split(entry_id)[0]
        assert words in newest, name


def test_a_later_version_may_have_written_anything(client: Client, owner: Browser) -> None:
    for changes in ({"geometry": {"changed": True}}, {"name": "x"}, {"name": {"was": 1}}):
        make_entry(client, changes=changes)
    page = owner.get(PATH)
    assert page.status == 200
    assert page.text.count("Action project.updated") == 3


def _changed(client: Client) -> tuple[dict[str, Any], str]:
    project = make_project(client, geometry=square())
    client.put(f"/v1/projects/{project['id']}", {"geometry": square(10.05)})
    return project, audit_entries(client)[-1]["id"]


def test_a_changed_boundary_is_drawn(client: Client, owner: Browser) -> None:
    project, entry_id = _changed(client)
    page = owner.get(f"{PATH}?target_id={project['id']}")
    assert "added" in page.text
    assert "ha before" in page.text
    assert f'src="{PATH}/{entry_id}/boundary.svg"' in page.response.text
    answer = owner.get(f"{PATH}/{entry_id}/boundary.svg").response
    assert answer.mimetype == "image/svg+xml"
    text = answer.get_data(as_text=True)
    assert "<style" not in text
    assert "style=" not in text
    assert 'id="not-former"' in text
    assert 'id="not-present"' in text
    known = {"If-None-Match": answer.headers["ETag"]}
    again = owner.get(f"{PATH}/{entry_id}/boundary.svg", headers=known).response
    assert again.status_code == 304


def test_the_picture_goes_with_the_project(client: Client, owner: Browser) -> None:
    project, entry_id = _changed(client)
    client.post(f"/v1/projects/{project['id']}/archive")
    client.delete(f"/v1/projects/{project['id']}")
    page = owner.get(f"{PATH}?target_id={project['id']}")
    assert "The boundaries are no longer kept." in page.text
    assert "boundary.svg" not in page.response.text
    assert owner.get(f"{PATH}/{entry_id}/boundary.svg").status == 404


def test_pictures_of_others_and_of_other_entries_are_not_found(
    client: Client, owner: Browser
) -> None:
    _, foreign = _changed(make_account(client.app))
    for entry_id in (foreign, make_entry(client), "aud_1", "x"):
        assert owner.get(f"{PATH}/{entry_id}/boundary.svg").status == 404
