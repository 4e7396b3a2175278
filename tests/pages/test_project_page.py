"""The page of one project."""

from __future__ import annotations

import re

import pytest

from tests.make import (
    Browser,
    Client,
    make_asset,
    make_former_boundary,
    make_project,
    point,
    square,
)
from tests.pages.support import browser_of, json_of, post


@pytest.fixture
def project_id(client: Client) -> str:
    record = make_project(
        client,
        description="Beside the\nriver",
        metadata={"species": "larch", "planted": 1998},
    )
    return str(record["id"])


def test_everything_of_a_project_is_shown(client: Client, owner: Browser, project_id: str) -> None:
    client.put(f"/v1/projects/{project_id}", json={"geometry": square(size=0.1)})
    make_asset(client, project_id, name="Camera", location=point(10.05, 50.05))
    page = owner.get(f"/projects/{project_id}")
    shown = client.get(f"/v1/projects/{project_id}").json["data"]
    assert f"{shown['area_hectares']:,.2f} ha" in page.text
    for text in ("Perimeter 36.57 km", "species larch", "planted 1998", "Camera", "Assets (1)"):
        assert text in page.text, text
    (entry,) = client.get(f"/v1/audit-log?target_id={project_id}&per_page=1").json["data"]
    who = f"API key {entry['actor']['label']}"
    assert f"{who} changed the boundary of the project" in page.text
    html = page.response.get_data(as_text=True)
    assert '"place": [10.05, 50.05]' in html


def test_a_map_for_paper_has_the_corners_and_the_account(
    client: Client, owner: Browser, project_id: str
) -> None:
    client.put(f"/v1/projects/{project_id}", json={"geometry": square(size=0.1)})
    make_asset(client, project_id, name="Camera", location=point(10.05, 50.05))
    page = owner.get(f"/projects/{project_id}")
    for text in ("4 corners", "50.100000° N 10.100000° E", "Where In Germany", "10.05° E", "5 km"):
        assert text in page.text, text
    assert re.search("Canopy · .+ · as of \\d\\d/", page.text)
    html = page.response.get_data(as_text=True)
    assert html.count('class="corner"') == 4
    assert html.count('class="dot"') == 1
    ring = square(size=0.1)["coordinates"][0]
    many = [*ring[:-1], *([10, 50.1 - n / 1000] for n in range(1, 41)), ring[-1]]
    geometry = {"type": "Polygon", "coordinates": [many]}
    client.put(f"/v1/projects/{project_id}", json={"geometry": geometry})
    page = owner.get(f"/projects/{project_id}")
    assert "44 corners Too many to list" in page.text
    assert "The middle is at 50.050000° N 10.050000° E." in page.text


def test_a_project_without_a_boundary(owner: Browser, project_id: str) -> None:
    page = owner.get(f"/projects/{project_id}")
    assert "No boundary yet" in page.text
    assert json_of(owner, f"/projects/{project_id}/boundary") is None


def test_the_boundary_for_the_map(client: Client, owner: Browser, project_id: str) -> None:
    client.put(f"/v1/projects/{project_id}", json={"geometry": square()})
    path = f"/projects/{project_id}/boundary"
    assert json_of(owner, path) == square()
    tag = owner.get(path).response.headers["ETag"]
    assert owner.get(path, headers={"If-None-Match": tag}).status == 304


def test_a_former_boundary_is_shown_and_restored(
    client: Client, owner: Browser, project_id: str
) -> None:
    former = make_former_boundary(client, project_id)
    page = owner.get(f"/projects/{project_id}")
    assert "Restore this boundary?" in page.text
    assert "Show the difference" in page.text
    path = f"/projects/{project_id}/boundaries/{former}"
    assert json_of(owner, path) == square(size=0.1)
    assert post(owner, f"{path}/restore").status == 303
    assert "Boundary restored." in owner.get(f"/projects/{project_id}").text
    geometry = client.get(f"/v1/projects/{project_id}").json["data"]["geometry"]
    assert geometry == square(size=0.1)
    newest = client.get(f"/v1/projects/{project_id}/boundaries").json["data"][0]
    assert newest["source"] == "dashboard"
    assert newest["created_by"]["id"] == client.owner_id


def test_overlaps(client: Client, owner: Browser, project_id: str) -> None:
    client.put(f"/v1/projects/{project_id}", json={"geometry": square(70, 10)})
    other = make_project(client, name="Overlapping", geometry=square(70.05, 10))
    page = owner.get(f"/projects/{project_id}/overlaps")
    assert "Overlapping" in page.text
    assert "50.0%" in page.text
    assert f"/projects/{other['id']}" in page.links


def test_an_editor_archives_and_does_not_delete(client: Client, project_id: str) -> None:
    editor = browser_of(client, role="editor")
    assert post(editor, f"/projects/{project_id}/archive").status == 303
    page = editor.get(f"/projects/{project_id}")
    assert "Admins and owners can delete it." in page.text
    assert "Delete" not in page.text
    assert post(editor, f"/projects/{project_id}/delete", confirmation="x").status == 403


def test_archived_restored_deleted(client: Client, owner: Browser, project_id: str) -> None:
    path = f"/projects/{project_id}"
    assert "Delete for good" not in owner.get(path).text
    named = {"confirmation": client.get(f"/v1{path}").json["data"]["name"]}
    assert post(owner, f"{path}/delete", **named).status == 409
    assert post(owner, f"{path}/archive").status == 303
    page = owner.get(path)
    assert "no longer counts" in page.text
    assert "is deleted for good, with its 0 assets" in page.text
    assert post(owner, f"{path}/restore").status == 303
    assert post(owner, f"{path}/archive").status == 303
    for typed in ({}, {"confirmation": "Another"}):
        assert post(owner, f"{path}/delete", **typed).status == 303
        assert "Nothing was deleted. To confirm, type the name" in owner.get(path).text
    named["confirmation"] = f"  {named['confirmation'].upper()} "
    assert post(owner, f"{path}/delete", **named).status == 303
    assert "deleted." in owner.get("/projects").text
    assert owner.get(path).status == 404
    assert client.get(f"/v1/projects/{project_id}").status_code == 404
