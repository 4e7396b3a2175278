"""What pages of maps show and may load."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

from app.basemap.own import FILE
from app.settings.map_layers import preset_layer
from tests.basemap.planet import make_planet
from tests.make import Browser, Client, second_app, signed_in_browser

IMAGES = "; img-src 'self' data:"
FORM = "/projects/new"


def layers_of(browser: Browser, path: str = FORM) -> tuple[list[dict[str, Any]], str]:
    """The layers of the map on a page, and the origins of images that it may load."""
    response = browser.get(path).response
    _, _, after = response.text.partition('data-layers="')
    policy = response.headers["Content-Security-Policy"]
    origins = policy.partition(IMAGES)[2].partition(";")[0]
    return json.loads(unescape(after.partition('"')[0]) or "[]"), origins.strip()


def test_pages_of_maps_alone_may_load_what_they_show(client: Client) -> None:
    chosen = (preset_layer("opentopomap"), preset_layer("usgs-imagery"))
    with second_app(
        client.app, map_layers=chosen, map_tile_url="https://a.example/{z}/{x}/{y}"
    ) as made:
        browser = signed_in_browser(made, client.owner_id, client.account_id)
        layers, origins = layers_of(browser)
        assert [layer["name"] for layer in layers] == ["opentopomap", "usgs-imagery"]
        assert origins == "https://*.tile.opentopomap.org https://basemap.nationalmap.gov"
        assert layers_of(browser, "/profile") == ([], "")
        assert layers_of(browser, "/imports/new") == ([], "")


def test_the_only_layer_of_settings(client: Client) -> None:
    tiles = "https://{s}.tile.example.org:8443/{z}/{x}/{y}.png?key=1"
    with second_app(client.app, map_tile_url=tiles, map_tile_attribution="<b>Us</b>") as made:
        [layer], origins = layers_of(signed_in_browser(made, client.owner_id, client.account_id))
    assert (layer["url"], layer["attribution"]) == (tiles, "<b>Us</b>")
    assert layer["title"] == "Map of tile.example.org:8443"
    assert origins == "https://*.tile.example.org:8443"


def test_the_map_of_this_instance_is_first(client: Client, tmp_path: Path) -> None:
    make_planet(tmp_path / FILE, max_zoom=6)
    tiles = "https://tile.example.org/{z}/{x}/{y}.png"
    with second_app(client.app, instance_path=tmp_path, map_tile_url=tiles) as made:
        browser = signed_in_browser(made, client.owner_id, client.account_id)
        [own, _], origins = layers_of(browser)
    assert (own["title"], own["type"], own["max_zoom"]) == ("Own map", "pmtiles", 6)
    assert browser.get(own["url"]).status == 200
    assert origins == "https://tile.example.org"


def test_by_default_there_is_none(client: Client) -> None:
    assert layers_of(signed_in_browser(client.app, client.owner_id, client.account_id)) == ([], "")
