"""Pages that are sent again while nothing has changed."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from flask import Flask

from app.db.transactions import transaction
from app.doctor.counters import correct_counters
from app.ogc import feature_collections
from tests.database_webhook.reports import change
from tests.imports.making import act, ready
from tests.maintenance.contents import url_of
from tests.make import Client, make_asset, make_project, point, square
from tests.make.features import feature
from tests.ogc.reading import EPSG_3857, found, items, names
from tests.turns import turn_taken

PATH = "/ogc/collections/projects/items"


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, no page is read from the database."""
    return lambda: monkeypatch.delattr(feature_collections, "select_features")


def test_a_page_is_sent_again_as_it_was(client: Client, no_reading: Callable[[], None]) -> None:
    for name in ("Oak", "Pine", "Yew"):
        make_project(client, name=name, geometry=square())
    first = items(client, limit=2)
    no_reading()
    again = items(client, limit=2)
    assert again.get_data() == first.get_data()
    ignored = {"Date", "X-Request-Id"}
    headers = [
        {
            name: value
            for name, value in response.headers
            if name not in ignored and not name.startswith("X-RateLimit")
        }
        for response in (first, again)
    ]
    assert headers[0] == headers[1]
    assert 'rel="next"' in headers[0]["Link"]


def test_a_page_that_the_client_has_is_not_sent(
    client: Client, no_reading: Callable[[], None]
) -> None:
    make_project(client, geometry=square())
    tag = items(client).headers["ETag"]
    assert tag.startswith('W/"')
    no_reading()
    response = client.get(PATH + "?", headers={"If-None-Match": tag})
    assert (response.status_code, response.get_data()) == (304, b"")
    assert response.headers["ETag"] == tag
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert "Accept" in response.headers["Vary"].split(", ")


def test_a_changed_project_is_read_again(client: Client) -> None:
    path = f"/projects/{make_project(client, geometry=square())['id']}"
    merge = {"Content-Type": "application/merge-patch+json"}
    feature_path, body = path.replace("/projects", PATH), {"properties": {"name": "A third"}}
    for update in (
        lambda: client.put(f"/v1{path}", json={"name": "Another"}),
        lambda: client.put(f"/v1{path}", json={"metadata": {"a": 1}}),
        lambda: client.put(f"/v1{path}", json={"geometry": square(size=0.3)}),
        lambda: client.send("PATCH", feature_path, json=body, headers=merge),
        lambda: client.post(f"/v1{path}/archive"),
    ):
        before = items(client)
        assert update().status_code == 200
        after = items(client)
        assert found(after) != found(before)
        assert after.headers["ETag"] != before.headers["ETag"]


def test_created_and_deleted_projects_are_seen_at_once(client: Client) -> None:
    assert names(client) == []
    project = make_project(client, name="Oak")
    assert names(client) == ["Oak"]
    client.post(f"/v1/projects/{project['id']}/archive")
    assert client.delete(f"/v1/projects/{project['id']}").status_code == 204
    assert names(client) == []


def test_an_import_and_its_undoing_are_seen(client: Client) -> None:
    project = make_project(client, name="Oak", geometry=square(1, 1), external_id="1")
    assert names(client) == ["Oak"]
    changed = feature(square(1, 1), name="Great Oak", external_id="1")
    record = ready(client, changed, feature(square(2, 2), name="Yew", external_id="2"))
    act(client, record, "apply")
    assert names(client) == ["Great Oak", "Yew"]
    act(client, record, "undo")
    (shown,) = found(items(client))
    assert (shown["id"], shown["properties"]["name"]) == (project["id"], "Oak")


def test_corrected_counters_have_pages_read_again(
    client: Client, stranger: Client, app: Flask
) -> None:
    project = make_project(client, name="Oak")
    assert (names(client), names(stranger)) == (["Oak"], [])
    change(client, "projects", project["id"], account_id=stranger.account_id)
    with app.app_context():
        correct_counters(url_of(app), transaction)
    assert (names(client), names(stranger)) == ([], ["Oak"])


def test_a_page_that_is_kept_waits_for_no_turn(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(client, geometry=square())
    tag = items(client, crs=EPSG_3857).headers["ETag"]
    with turn_taken():
        assert items(client, crs=EPSG_3857).status_code == 200
        known = client.get(
            f"{PATH}?{urlencode({'crs': EPSG_3857})}", headers={"If-None-Match": tag}
        )
    assert known.status_code == 304


def test_a_page_is_that_of_one_account(client: Client, stranger: Client) -> None:
    make_project(client, name="Oak")
    assert names(client) == ["Oak"]
    assert names(stranger) == []
    assert items(client).headers["ETag"] != items(stranger).headers["ETag"]


def test_a_page_is_that_of_one_query_and_host(client: Client) -> None:
    make_project(client, name="Oak", geometry=square())
    make_project(client, name="Pine", geometry=square())
    pages = [items(client), items(client, limit=1), items(client, name="Oak")]
    pages += [items(client, crs=EPSG_3857), items(client, f="json")]
    other = {"Authorization": f"Bearer {client.token}", "Host": "forests.example.org"}
    pages.append(client.app.test_client().get(PATH, headers=other))
    assert "http://forests.example.org/ogc" in pages[-1].get_data(as_text=True)
    assert len({page.get_data() for page in pages}) == len(pages)
    assert len({page.headers["ETag"] for page in pages}) == len(pages)


def test_assets_are_read_each_time(client: Client) -> None:
    project = make_project(client)["id"]
    assert names(client, "assets") == []
    make_asset(client, project, name="Station", location=point())
    response = items(client, "assets")
    assert len(found(response)) == 1
    assert "ETag" not in response.headers
