"""GPX: the elements of a waypoint, and what is beside them."""

from __future__ import annotations

import json
from datetime import datetime
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


def test_gdal_reads_what_has_an_element(tmp_path: Path) -> None:
    metadata = {
        "symbol": "Tree", "desc": 7, "cmt": "c", "src": "GPSMAP", "ele": 400.5, "fix": "3d",
        "time": "2026-01-02T03:04:05Z", "sat": 9, "hdop": 1.5, "vdop": "2.5", "pdop": 3,
        "ageofdgpsdata": 4.5, "dgpsid": 12, "magvar": 0.5, "geoidheight": 47.25,
        "link1_href": "oak.jpg", "link1_text": "Oak & ash", "link1_type": "image/jpeg",
        "link2_href": "https://example.org",
    }  # fmt: skip
    record = asset(location=point(), name="<\x01>", metadata=metadata)
    columns = read_layer(write(source(record), "gpx", tmp_path), "waypoints").columns
    expected = metadata | {"name": "<\ufffd>", "sym": "Tree", "desc": "7", "vdop": 2.5}
    expected |= {"type": "equipment", "time": datetime(2026, 1, 2, 3, 4, 5)}
    del expected["symbol"]
    assert {name: columns[name][0] for name in expected} == expected


def test_what_an_element_cannot_hold_is_in_the_extensions_alone() -> None:
    metadata = {"ele": "high", "time": "yesterday", "fix": "good", "sat": -1, "link1_text": "x"}
    waypoint = _waypoint(asset(location=point(), metadata=metadata))
    shown = [each.tag.rpartition("}")[2] for each in waypoint]
    assert shown == ["name", "type", "extensions"]
    assert json.loads(waypoint.findtext("g:extensions/c:metadata", None, _GPX)) == metadata
