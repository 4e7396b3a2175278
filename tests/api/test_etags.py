"""ETag, If-None-Match and If-Match (RFC 9110, sections 8.8.3 and 13.1)."""

from __future__ import annotations

import re

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
ASSET = "/v1/projects/{project}/assets/{asset}"
# Operations that heed If-Match: what is sent, and the address whose tag is meant. Each can be done
# after those before it.
CHANGES = [
    ("PUT", "/v1/projects/{project}", {"name": "B"}, "/v1/projects/{project}"),
    ("PUT", ASSET, {"name": "B"}, ASSET),
    ("DELETE", ASSET, None, ASSET),
    ("POST", "/v1/projects/{project}/archive", None, "/v1/projects/{project}"),
    ("POST", "/v1/projects/{project}/restore", None, "/v1/projects/{project}"),
    ("DELETE", "/v1/projects/{archived}", None, "/v1/projects/{archived}"),
    ("PUT", "/v1/account", {"name": "B"}, "/v1/account"),
]


@pytest.fixture
def ids(client: Client) -> dict[str, str]:
    project, archived = make_project(client, geometry=square()), make_project(client)
    client.post(f"/v1/projects/{archived['id']}/archive")
    asset = make_asset(client, project["id"])
    return {"project": project["id"], "archived": archived["id"], "asset": asset["id"]}


def _tag(client: Client, path: str) -> str:
    return client.get(path).headers["ETag"]


def test_every_read_has_a_strong_tag_and_is_sent_once(
    client: Client, ids: dict[str, str], subtests: pytest.Subtests
) -> None:
    others = [make_key(client), make_service_token(client)]
    for path in READS:
        with subtests.test(path):
            address = path.format(**ids)
            response = client.get(address)
            tag = response.headers["ETag"]
            assert re.fullmatch(r'"[0-9a-f]{32}"', tag)
            assert response.headers["Cache-Control"] == "private, no-cache"
            for unknown in ('"x"', '"", "y"', 'W/"z"'):
                known = client.get(address, headers={"If-None-Match": unknown})
                assert known.status_code == 200
            if path.endswith("usage"):
                continue  # it counts this request too
            assert {_tag(other, address) for other in others} == {tag}
            for sent in (tag, f"W/{tag}", f'"x", {tag}', "*", f' {tag} ,"y"'):
                known = client.get(address, headers={"If-None-Match": sent})
                assert (known.status_code, known.get_data()) == (304, b"")
                assert known.headers["ETag"] == tag
                assert "Content-Type" not in known.headers
                assert known.headers["Cache-Control"] == "private, no-cache"


def test_a_page_that_is_known_still_has_its_links(client: Client) -> None:
    response = client.get("/v1/projects", headers={"If-None-Match": "*"})
    assert response.status_code == 304
    assert 'rel="first"' in response.headers["Link"]


def test_the_tag_of_a_change_is_that_of_the_resource(client: Client) -> None:
    created = client.post("/v1/projects", json={"name": "A", "geometry": square()})
    path = created.headers["Location"]
    assert _tag(client, path) == created.headers["ETag"]
    for step in ("archive", "restore"):
        assert client.post(f"{path}/{step}").headers["ETag"] == _tag(client, path)
    asset = client.post(f"{path}/assets", json={"name": "A", "type": "x", "metadata": {"b": [1]}})
    assert _tag(client, asset.headers["Location"]) == asset.headers["ETag"]


def test_the_tag_of_a_page_changes_with_its_items_and_with_the_number_of_all(
    client: Client,
) -> None:
    path = "/v1/projects?per_page=1&order=asc"
    first = make_project(client)
    tags = [_tag(client, path)]
    client.put(f"/v1/projects/{first['id']}", json={"description": "new"})
    tags.append(_tag(client, path))
    make_project(client)
    tags.append(_tag(client, path))
    assert len(set(tags)) == 3


def test_a_change_needs_the_tag_of_now(
    client: Client, ids: dict[str, str], subtests: pytest.Subtests
) -> None:
    """The comparison is strong: a weak tag never matches."""
    for method, path, body, tagged in CHANGES:
        with subtests.test(f"{method} {path}"):
            address, target = tagged.format(**ids), path.format(**ids)
            before, events, tag = (
                client.get(address).json["data"], event_types(client), _tag(client, address)
            )  # fmt: skip
            for sent, status in (('"x"', 412), (f'"x", W/{tag}', 412), ('"x', 400), ("", 400)):
                headers = {"If-Match": sent}
                refused = client.send(method, target, json=body, headers=headers)
                assert refused.status_code == status, sent
            assert (client.get(address).json["data"], event_types(client)) == (before, events)
            changed = client.send(method, target, json=body, headers={"If-Match": tag})
            assert changed.status_code in (200, 204)


def test_lists_of_tags(client: Client, ids: dict[str, str]) -> None:
    path = f"/v1/projects/{ids['project']}"
    for number, sent in enumerate(("*", '"x", {tag}', '{tag},"x"', "  {tag}  ")):
        headers = {"If-Match": sent.format(tag=_tag(client, path))}
        assert client.put(path, json={"name": f"B {number}"}, headers=headers).status_code == 200
    for sent in ("x", '"x" "y"', "*, *"):
        refused = client.put(path, json={"name": "C"}, headers={"If-Match": sent})
        assert refused.status_code == 400, sent
        assert [each["field"] for each in refused.json["error"]["details"]] == ["If-Match"]


def test_a_tag_of_before_does_not_hold_after_a_change(client: Client, ids: dict[str, str]) -> None:
    path = f"/v1/projects/{ids['project']}"
    old = _tag(client, path)
    new = client.put(path, json={"name": "B"}, headers={"If-Match": old}).headers["ETag"]
    assert new == _tag(client, path) != old
    assert client.put(path, json={"name": "C"}, headers={"If-Match": old}).status_code == 412
    assert client.put(path, json={}, headers={"If-Match": old}).status_code == 412
    assert client.put(path, json={"name": "C"}, headers={"If-Match": new}).status_code == 200


def test_verify_has_no_tag(client: Client) -> None:
    response = client.get("/v1/auth/verify", headers={"If-None-Match": "*"})
    assert response.status_code == 200
    assert "ETag" not in response.headers
