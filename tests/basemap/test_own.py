"""The instance's own map: what is known of it, and its file for the scripts of pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from pmtiles.tile import TileType

from app.basemap import own_basemap
from app.basemap.own import FILE
from app.pages.map import basemap
from tests.basemap.planet import make_planet
from tests.make import Browser, Client
from tests.make.apps import second_app
from tests.make.browser import signed_in_browser


@pytest.fixture(scope="module")
def instance(app: Flask, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """An application whose instance has a map."""
    with second_app(app, instance_path=tmp_path_factory.mktemp("instance")) as made:
        make_planet(_file(made), max_zoom=8)
        yield made


@pytest.fixture
def browser(instance: Flask, client: Client) -> Browser:
    return signed_in_browser(instance, client.owner_id, client.account_id)


def _file(app: Flask) -> Path:
    path: Path = app.config["SETTINGS"].instance_path / FILE
    return path


def test_what_is_known_of_it_and_another_file_is_seen_at_once(app: Flask, tmp_path: Path) -> None:
    with second_app(app, instance_path=tmp_path) as made, made.app_context():
        assert own_basemap() is None
        size = make_planet(tmp_path / FILE, max_zoom=6).stat().st_size
        found = own_basemap()
        assert found is not None
        assert (found.size, found.min_zoom, found.max_zoom) == (size, 0, 6)
        assert found[5:9] == (-180, -85, 180, 85)
        assert (found.attribution, found.source) == ("Protomaps © OpenStreetMap", None)
        assert abs(found.made_at - datetime.now(UTC)).total_seconds() < 60
        make_planet(tmp_path / FILE, max_zoom=7)
        newer = own_basemap()
        assert newer is not None
        assert newer.max_zoom == 7
        assert newer.url != found.url
        whole = (tmp_path / FILE).read_bytes()
        endless = whole[:24] + b"\xff" * 16 + whole[40:]
        for broken in (whole[:-1], endless, b"PMTiles\x02" + bytes(200), b"no"):
            (tmp_path / FILE).write_bytes(broken)
            assert own_basemap() is None
        make_planet(tmp_path / FILE, max_zoom=6, tile_type=TileType.PNG)
        assert own_basemap() is None


def test_parts_of_the_file_are_sent(instance: Flask, browser: Browser) -> None:
    content = _file(instance).read_bytes()
    size = len(content)

    def get(**headers: str) -> Any:
        # What web servers bring reads all of the file before a part.
        environ = {"wsgi.file_wrapper": None}
        return browser.client.get(
            "/map/basemap.pmtiles", headers=headers, environ_overrides=environ
        )

    whole = get()
    assert (whole.status_code, whole.get_data()) == (200, content)
    assert whole.headers["Cache-Control"] == "private, max-age=86400"
    assert whole.headers["Accept-Ranges"] == "bytes"
    tag = whole.headers["ETag"]
    part = get(Range="bytes=7-126")
    assert (part.status_code, part.get_data()) == (206, content[7:127])
    assert part.headers["Content-Range"] == f"bytes 7-126/{size}"
    assert part.headers["ETag"] == tag
    assert get(Range="bytes=-5").get_data() == content[-5:]
    assert get(Range=f"bytes={size}-").status_code == 416
    assert get(**{"Range": "bytes=0-3", "If-Range": tag}).status_code == 206
    assert get(**{"Range": "bytes=0-3", "If-Range": '"former"'}).status_code == 200
    assert get(**{"If-None-Match": tag}).status_code == 304
    head = browser.client.head("/map/basemap.pmtiles")
    assert (head.status_code, head.get_data()) == (200, b"")
    assert head.headers["Content-Length"] == str(size)


def test_it_is_for_people_who_are_signed_in_on_pages_of_this_service(
    app: Flask, client: Client, instance: Flask, browser: Browser
) -> None:
    path = "/map/basemap.pmtiles"
    other_site = {"Sec-Fetch-Site": "cross-site", "Origin": "https://other.example"}
    assert browser.client.get(path, headers=other_site).status_code == 403
    stranger = Browser(instance)
    assert stranger.get(path, follow=False).status == 303
    assert stranger.get(path, headers={"X-Requested-With": "fetch"}).status == 401
    without = signed_in_browser(app, client.owner_id, client.account_id)
    assert without.get(path).status == 404


@pytest.mark.provokes(503)
def test_much_of_it_at_once_takes_a_place_of_the_exports(
    instance: Flask, client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(basemap, "BASEMAP_RANGE_BYTES", 1000)
    other_window = signed_in_browser(instance, client.owner_id, client.account_id)
    with other_window.client.get("/map/basemap.pmtiles", buffered=False) as first:
        assert first.status_code == 200
        assert browser.get("/map/basemap.pmtiles").status == 503
        small = {"Range": "bytes=0-999"}
        assert browser.get("/map/basemap.pmtiles", headers=small).status == 206
    assert browser.get("/map/basemap.pmtiles").status == 200
