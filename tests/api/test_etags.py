"""ETag, If-None-Match and If-Match (RFC 9110, sections 8.8.3 and 13.1)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.make import (
    Client,
    event_types,
    make_asset,
    make_key,
    make_project,
    make_service_token,
    square,
)

READS = [
    "/v1/projects",
    "/v1/projects/{project}",
    "/v1/projects/{project}/assets",
    "/v1/projects/{project}/assets/{asset}",
    "/v1/account",
    "/v1/account/usage",
]
# Operations that heed If-Match: what is sent, and the address whose tag is meant.
CHANGES = [
    ("PUT", "/v1/projects/{project}", {"name": "B"}, "/v1/projects/{project}"),
    ("DELETE", "/v1/projects/{archived}", None, "/v1/projects/{archived}"),
    ("POST", "/v1/projects/{project}/archive", None, "/v1/projects/{project}"),
    ("POST", "/v1/projects/{archived}/restore", None, "/v1/projects/{archived}"),
    (
        "PUT",
        "/v1/projects/{project}/assets/{asset}",
        {"name": "B"},
        "/v1/projects/{project}/assets/{asset}",
    ),
    (
        "DELETE",
        "/v1/projects/{project}/assets/{asset}",
        None,
        "/v1/projects/{project}/assets/{asset}",
    ),
    ("PUT", "/v1/account", {"name": "B"}, "/v1/account"),
]
each_read = pytest.mark.parametrize("path", READS)
each_change = pytest.mark.parametrize(("method", "path", "body", "tagged"), CHANGES)


@pytest.fixture
def ids(client: Client) -> dict[str, str]:
    project, archived = make_project(client, geometry=square()), make_project(client)
    client.post(f"/v1/projects/{archived['id']}/archive")
    asset = make_asset(client, project["id"])
    return {"project": project["id"], "archived": archived["id"], "asset": asset["id"]}


def _tag(client: Client, path: str) -> str:
    return client.get(path).headers["ETag"]


@each_read
def test_every_read_has_a_strong_tag(client: Client, ids: dict[str, str], path: str) -> None:
    assert re.fullmatch(r'"[0-9a-f]{32}"', _tag(client, path.format(**ids)))


@each_read
def test_a_read_may_be_stored_by_its_reader_only(
    client: Client, ids: dict[str, str], path: str
) -> None:
    assert client.get(path.format(**ids)).headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize("path", [path for path in READS if "usage" not in path])
def test_the_credential_does_not_change_the_tag(
    client: Client, ids: dict[str, str], path: str
) -> None:
    address = path.format(**ids)
    others = [make_key(client), make_service_token(client)]
    assert {_tag(other, address) for other in others} == {_tag(client, address)}


@pytest.mark.parametrize("path", [path for path in READS if "usage" not in path])
def test_what_is_known_is_not_sent_again(client: Client, ids: dict[str, str], path: str) -> None:
    address = path.format(**ids)
    tag = _tag(client, address)
    for sent in (tag, f"W/{tag}", f'"x", {tag}', "*", f' {tag} ,"y"'):
        response = client.get(address, headers={"If-None-Match": sent})
        assert (response.status_code, response.get_data()) == (304, b"")
        assert response.headers["ETag"] == tag
        assert "Content-Type" not in response.headers
        assert response.headers["Cache-Control"] == "private, no-cache"


@each_read
def test_what_is_not_known_is_sent(client: Client, ids: dict[str, str], path: str) -> None:
    for sent in ('"x"', '"", "y"', 'W/"z"'):
        response = client.get(path.format(**ids), headers={"If-None-Match": sent})
        assert response.status_code == 200


def test_a_page_that_is_known_still_has_its_links(client: Client) -> None:
    response = client.get("/v1/projects", headers={"If-None-Match": "*"})
    assert response.status_code == 304
    assert 'rel="first"' in response.headers["Link"]


def test_the_tag_changes_with_the_resource_and_comes_back_with_it(
    client: Client, ids: dict[str, str]
) -> None:
    path = f"/v1/projects/{ids['project']}"
    before = _tag(client, path)
    changed = client.put(path, json={"name": "Other"})
    assert changed.headers["ETag"] != before
    assert _tag(client, path) == changed.headers["ETag"]


def test_the_tag_of_a_change_is_that_of_the_resource(client: Client) -> None:
    created = client.post("/v1/projects", json={"name": "A", "geometry": square()})
    path = created.headers["Location"]
    assert _tag(client, path) == created.headers["ETag"]
    for step in ("archive", "restore"):
        assert client.post(f"{path}/{step}").headers["ETag"] == _tag(client, path)
    asset = client.post(f"{path}/assets", json={"name": "A", "type": "x", "metadata": {"b": [1]}})
    assert _tag(client, asset.headers["Location"]) == asset.headers["ETag"]


def test_the_tag_of_a_list_changes_with_each_of_its_items(
    client: Client, ids: dict[str, str]
) -> None:
    before = _tag(client, "/v1/projects")
    client.put(f"/v1/projects/{ids['project']}", json={"description": "new"})
    assert _tag(client, "/v1/projects") != before


def test_the_tag_of_a_page_changes_with_the_number_of_all(client: Client) -> None:
    make_project(client)
    before = _tag(client, "/v1/projects?per_page=1&order=asc")
    make_project(client)
    assert _tag(client, "/v1/projects?per_page=1&order=asc") != before


@each_change
def test_a_change_with_the_tag_of_now_is_made(
    client: Client, ids: dict[str, str], method: str, path: str, body: Any, tagged: str
) -> None:
    tag = _tag(client, tagged.format(**ids))
    response = client.send(method, path.format(**ids), json=body, headers={"If-Match": tag})
    assert response.status_code in (200, 204)


@each_change
@pytest.mark.parametrize("sent", ["*", '"x", {tag}', '{tag},"x"', "  {tag}  "])
def test_one_of_several_tags_is_enough(
    client: Client, ids: dict[str, str], method: str, path: str, body: Any, tagged: str, sent: str
) -> None:
    header = sent.format(tag=_tag(client, tagged.format(**ids)))
    response = client.send(method, path.format(**ids), json=body, headers={"If-Match": header})
    assert response.status_code in (200, 204)


@each_change
def test_a_change_with_another_tag_is_refused(
    client: Client, ids: dict[str, str], method: str, path: str, body: Any, tagged: str
) -> None:
    """The comparison is strong: a weak tag never matches."""
    address = tagged.format(**ids)
    before, known = client.get(address).json["data"], event_types(client)
    for sent in ('"x"', "W/{tag}", '"x", W/{tag}'):
        headers = {"If-Match": sent.format(tag=_tag(client, address))}
        response = client.send(method, path.format(**ids), json=body, headers=headers)
        assert response.status_code == 412, sent
        assert response.json["error"]["code"] == "PRECONDITION_FAILED"
        assert client.get(address).json["data"] == before
        assert event_types(client) == known


@each_change
def test_a_header_that_is_no_list_of_tags_is_refused(
    client: Client, ids: dict[str, str], method: str, path: str, body: Any, tagged: str
) -> None:
    for sent in ("", "x", '"x', '"x" "y"', "*, *"):
        response = client.send(method, path.format(**ids), json=body, headers={"If-Match": sent})
        assert response.status_code == 400, sent
        assert [d["field"] for d in response.json["error"]["details"]] == ["If-Match"]


def test_a_tag_of_before_does_not_hold_after_a_change(client: Client, ids: dict[str, str]) -> None:
    path = f"/v1/projects/{ids['project']}"
    old = _tag(client, path)
    new = client.put(path, json={"name": "B"}, headers={"If-Match": old}).headers["ETag"]
    assert client.put(path, json={"name": "C"}, headers={"If-Match": old}).status_code == 412
    assert client.put(path, json={"name": "C"}, headers={"If-Match": new}).status_code == 200


def test_nothing_to_change_still_needs_the_tag(client: Client, ids: dict[str, str]) -> None:
    path = f"/v1/projects/{ids['project']}"
    assert client.put(path, json={}, headers={"If-Match": '"x"'}).status_code == 412


def test_an_absent_resource_is_404_whatever_the_tag(client: Client) -> None:
    path = "/v1/projects/proj_01arz3ndektsv4rrffq69g5fav"
    for sent in ("*", '"x"', "nonsense"):
        assert client.put(path, json={}, headers={"If-Match": sent}).status_code == 404


def test_verify_has_no_tag(client: Client) -> None:
    response = client.get("/v1/auth/verify", headers={"If-None-Match": "*"})
    assert response.status_code == 200
    assert "ETag" not in response.headers
