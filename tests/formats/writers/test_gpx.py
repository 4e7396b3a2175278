"""GPX: the elements of a waypoint, and what is beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from app.formats.writers.gpx import write_gpx
from tests.formats.writers.sources import Record, asset, read_layer, source, write
from tests.make.geometry import point

_GPX = {"g": "http://www.topografix.com/GPX/1/1", "c": "urn:canopy:gpx"}


def _waypoint(record: Record) -> Any:
    return ElementTree.fromstring(b"".join(write_gpx(source(record)))).find("g:wpt", _GPX)


def test_a_waypoint() -> None:
    metadata = {"desc": "On the ridge", "sym": "Flag, Blue", "serial": 7}
    location = {"type": "Point", "coordinates": [8.5, -47.25, 612.5]}
    waypoint = _waypoint(asset(location=location, metadata=metadata))
    assert (waypoint.get("lon"), waypoint.get("lat")) == ("8.5", "-47.25")
    shown = [(each.tag.rpartition("}")[2], each.text) for each in waypoint][:-1]
    assert shown == [
        ("ele", "612.5"),
        ("name", "Station 1"),
        ("desc", "On the ridge"),
        ("sym", "Flag, Blue"),
        ("type", "equipment"),
    ]


def test_numbers_have_no_exponent() -> None:
    waypoint = _waypoint(asset(location={"type": "Point", "coordinates": [1e-7, -2.5e-9, 1e3]}))
    found = (waypoint.get("lon"), waypoint.get("lat"), waypoint.findtext("g:ele", None, _GPX))
    assert found == ("0.0000001", "-0.0000000025", "1000.0")


def test_everything_is_in_the_extensions() -> None:
    record = asset(location=point(), metadata={"serial": 7, "species": ["oak"]})
    waypoint = _waypoint(record)
    assert waypoint.findtext("g:extensions/c:id", None, _GPX) == record["id"]
    assert waypoint.findtext("g:extensions/c:status", None, _GPX) == "active"
    metadata = json.loads(waypoint.findtext("g:extensions/c:metadata", None, _GPX))
    assert metadata == {"serial": 7, "species": ["oak"]}


def test_gdal_reads_it(tmp_path: Path) -> None:
    record = asset(location=point(), name="<\x01>", metadata={"symbol": "Tree"})
    layer = read_layer(write(source(record), "gpx", tmp_path), "waypoints")
    assert layer.columns["name"] == ["<\ufffd>"]
    assert layer.columns["sym"] == ["Tree"]
    assert layer.columns["type"] == ["equipment"]
