"""Reading a collection as a whole has an entry in the audit log, however it is asked for."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from app.ogc.bulk_reads import BULK_READ_EVERY
from tests.make import Client, make_asset, make_key, make_project
from tests.make.audit import new_entries
from tests.oauth.support import advance_clock
from tests.ogc.reading import items, link


@pytest.fixture
def account(client: Client) -> Client:
    for name in ("Oak", "Pine", "Yew"):
        make_asset(client, make_project(client, name=name)["id"])
    return client


def cursor(client: Client, collection: str = "projects") -> str:
    """The place after the first feature."""
    following = link(items(client, collection, limit=1).json, "next")
    assert following is not None
    return parse_qs(urlsplit(following).query)["cursor"][0]


def entered(client: Client, collection: str = "projects", /, **query: object) -> list[str]:
    """The actions that a request enters."""
    with new_entries(client) as found:
        assert items(client, collection, **query).status_code == 200
    return [each["action"] for each in found]


def test_a_large_page_has_an_entry_with_and_without_a_cursor(account: Client) -> None:
    for query in ({}, {"cursor": cursor(account)}) * 2:
        assert entered(account, limit=1001, **query) == ["project.bulk_read"]


def test_reading_on_has_one_entry_an_hour(account: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    place = cursor(account)
    assert entered(account, limit=999) == []
    assert entered(account, limit=999, cursor=place) == ["project.bulk_read"]
    assert entered(account, limit=1, cursor=place) == []
    advance_clock(monkeypatch, BULK_READ_EVERY + timedelta(seconds=1))
    assert entered(account, limit=1, cursor=place) == ["project.bulk_read"]


def test_each_reader_and_collection_has_its_own(account: Client) -> None:
    other = make_key(account)
    for reader in (account, other):
        assert entered(reader, limit=1, cursor=cursor(account)) == ["project.bulk_read"]
        place = cursor(account, "assets")
        assert entered(reader, "assets", limit=1, cursor=place) == ["asset.bulk_read"]


def test_headers_alone_are_not_recorded(account: Client) -> None:
    with new_entries(account) as found:
        response = account.send("HEAD", "/ogc/collections/projects/items?limit=1001")
        assert response.status_code == 200
    assert found == []
