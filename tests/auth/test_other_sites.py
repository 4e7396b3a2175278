"""Requests that other sites make a signed-in browser send: a link opens a page, and nothing else.

Reading needs no form, so that no token protects it: a link to a file or a map would make the
instance work in the name of whoever follows it, and write entries in their audit log.
"""

from __future__ import annotations

from typing import Any

from tests.auth.test_page_matrix import routes, things
from tests.make import Client, make_operator, make_project
from tests.make.browser import Browser
from tests.pages.support import signed_in_browser

FOREIGN = ("cross-site", "same-site", "anything")


def _read(browser: Browser, path: str, site: str | None) -> int:
    headers = {} if site is None else {"Sec-Fetch-Site": site}
    return browser.get(path, follow=False, headers=headers).status


def test_every_page_that_gives_no_page_is_closed_to_other_sites(client: Client) -> None:
    reading = [route for route in routes() if route.method == "GET"]
    ids = things(client, *reading)
    make_operator(client)
    browser = signed_in_browser(client, client.owner_id)
    found, opened = set(), set()
    for route in reading:
        answer = browser.get(route.path(ids), follow=False)
        if answer.status == 200 and answer.response.mimetype != "text/html":
            found.add(route.rule)
            if _read(browser, route.path(ids), "cross-site") != 403:
                opened.add(route.rule)
    assert sorted(opened) == []
    assert found >= {"/projects/export", "/assets/export", "/usage/requests.csv", "/projects/map"}


def test_a_session_reads_for_this_site_and_the_address_bar(client: Client) -> None:
    make_project(client)
    browser = signed_in_browser(client, client.owner_id)
    for path in ("/projects/export", "/ogc", "/ogc/collections/projects/items?limit=10000"):
        assert [_read(browser, path, site) for site in (None, "none", "same-origin")] == [200] * 3
        assert [_read(browser, path, site) for site in FOREIGN] == [403] * 3
    entries: Any = client.get("/v1/audit-log").json["data"]
    assert len([each for each in entries if each["action"].endswith(".exported")]) == 3


def test_a_key_reads_for_every_site(client: Client) -> None:
    """Pages of CORS_ORIGINS send it, and no other page has it."""
    answer = client.get("/ogc/collections", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200


def test_links_of_other_sites_open_pages(client: Client) -> None:
    browser = signed_in_browser(client, client.owner_id)
    for path in ("/projects", "/assets", "/usage"):
        assert _read(browser, path, "cross-site") == 200
