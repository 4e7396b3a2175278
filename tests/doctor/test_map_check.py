"""What the doctor says about the layers of maps."""

from __future__ import annotations

from flask import Flask

from app.doctor.doctor import run_checks
from app.doctor.findings import Status
from tests.doctor.test_doctor import environ_of

TILES = "http://tiles.example.org/{z}/{x}/{y}.png"


def said(app: Flask, **environ: str) -> list[tuple[Status, str]]:
    found = run_checks(environ_of(app) | environ)
    return [(each.status, each.found) for each in found if each.check == "maps"]


def test_what_is_on_and_what_is_wrong_with_it(app: Flask) -> None:
    none = "backgrounds and overlays of maps: none (see /operator/map)"
    assert said(app) == [(Status.OK, none)]
    on = "backgrounds and overlays of maps: OpenTopoMap, OpenStreetMap"
    assert said(app, MAP_LAYERS="opentopomap,osm") == [(Status.OK, on)]
    https = {"PUBLIC_URL": "https://canopy.example.org", "MAP_TILE_URL": TILES}
    title = "Map of tiles.example.org"
    assert said(app, **https) == [
        (Status.WARNING, f"Layers of maps that do not name their owner: {title}"),
        (Status.WARNING, f"Layers of maps that browsers do not load, over http: {title}"),
    ]
