"""HEAD of files: the headers that GET would have, and nothing that anybody gets."""

from __future__ import annotations

from tests.exports.account_export.archives import PATH
from tests.make import Client, make_project
from tests.make.audit import new_entries
from tests.pages.support import signed_in_browser

FILES = (
    "/v1/exports/projects",
    "/v1/exports/projects?format=gpkg",
    "/v1/exports/assets?format=csv",
    "/v1/audit-log?format=ndjson",
    PATH,
)
PAGES = ("/projects/export", "/assets/export")


def test_it_has_the_headers(client: Client) -> None:
    make_project(client)
    response = client.send("HEAD", "/v1/exports/projects?format=gpkg")
    assert (response.status_code, response.get_data()) == (200, b"")
    assert int(response.headers["Content-Length"]) > 10_000


def test_nobody_has_exported_anything(client: Client) -> None:
    for path in FILES:
        with new_entries(client) as found:
            response = client.send("HEAD", path)
            assert (response.status_code, response.get_data()) == (200, b"")
        assert found == [], path
        with new_entries(client) as found:
            assert client.get(path).status_code == 200
        assert [entry["action"].partition(".")[2] for entry in found] == ["exported"], path


def test_nor_on_a_page(client: Client) -> None:
    browser = signed_in_browser(client, client.owner_id)
    for path in PAGES:
        with new_entries(client) as found:
            assert browser.client.head(path).status_code == 200
        assert found == [], path
        with new_entries(client) as found:
            assert browser.client.get(path).status_code == 200
        assert len(found) == 1, path
