"""The entity tag of a map: the same while nothing changed, and another one after each change."""

from __future__ import annotations

import time

import pytest

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import AccountUsage
from app.projects.boundary_history.jobs import simplify_boundaries
from app.projects.map import service
from tests.make import Client, make_asset, make_project, square
from tests.projects.map.test_map import PATH, long_boundary


def tag_of(client: Client, query: str = "zoom=8") -> str:
    return client.get(f"{PATH}?{query}").headers["ETag"]


def version(client: Client) -> int:
    with client.app.app_context():
        return db.session.get_one(AccountUsage, client.account_id).map_version


def test_an_unchanged_map_is_not_read_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(client, geometry=square())
    tag = tag_of(client)
    assert tag.startswith('W/"')
    monkeypatch.delattr(service, "find_largest")
    response = client.get(f"{PATH}?zoom=8", headers={"If-None-Match": tag})
    assert (response.status_code, response.get_data()) == (304, b"")
    assert response.headers["ETag"] == tag


def test_an_unchanged_map_is_sent_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(client, geometry=square())
    first = client.get(f"{PATH}?zoom=8")
    monkeypatch.delattr(service, "find_largest")
    again = client.get(f"{PATH}?zoom=8")
    assert again.get_data() == first.get_data()
    for name in ("ETag", "Content-Type", "Content-Length", "Cache-Control"):
        assert again.headers[name] == first.headers[name]


def test_a_tag_is_that_of_a_query_and_an_account(client: Client, stranger: Client) -> None:
    queries = ("zoom=8", "zoom=9", "zoom=8&bbox=1,2,3,4", "zoom=8&status=active")
    tags = [tag_of(client, query) for query in queries]
    assert len({*tags, tag_of(stranger)}) == 5


def test_a_compressed_map_has_the_same_tag(client: Client) -> None:
    make_project(client, geometry=square())
    zipped = client.get(f"{PATH}?zoom=8", headers={"Accept-Encoding": "gzip"})
    assert zipped.headers["ETag"] == tag_of(client)


@pytest.mark.both
def test_each_change_gives_another_tag(client: Client) -> None:
    project = make_project(client, geometry=square())
    path = f"/v1/projects/{project['id']}"
    tags = [tag_of(client)]
    for change in (
        lambda: client.put(path, json={"name": "Another"}),
        lambda: client.put(path, json={"geometry": square(size=0.3)}),
        lambda: make_project(client),
        lambda: client.post(f"{path}/archive"),
        lambda: client.delete(path),
    ):
        change()
        tags.append(tag_of(client))
    assert len(set(tags)) == len(tags)


@pytest.mark.both
def test_new_shapes_give_another_tag(client: Client) -> None:
    make_project(client, geometry=long_boundary())
    before = tag_of(client)
    with client.app.app_context():
        while simplify_boundaries():  # a run ends when its time is up
            pass
    assert tag_of(client) != before


def test_no_tag_comes_again_after_a_backup_was_restored(client: Client) -> None:
    project = make_project(client, geometry=square())
    backup = version(client)
    client.put(f"/v1/projects/{project['id']}", json={"name": "Lost"})
    lost = tag_of(client)
    with client.app.app_context(), transaction():
        db.session.get_one(AccountUsage, client.account_id).map_version = backup
    time.sleep(0.005)
    client.put(f"/v1/projects/{project['id']}", json={"name": "Another"})
    assert tag_of(client) != lost


def test_members_and_metadata_of_assets_leave_maps_as_they_are(client: Client) -> None:
    project = make_project(client, geometry=square())
    before = tag_of(client)
    asset = make_asset(client, project["id"], metadata={"serial": "WX-1"})
    path = f"/v1/projects/{project['id']}/assets/{asset['id']}"
    assert client.put(path, json={"metadata": {"serial": "WX-12345"}}).status_code == 200
    assert tag_of(client) == before
