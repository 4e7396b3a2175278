"""Which features a filter leaves, on both databases."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from app.geometry.shapes import query_shapes
from app.lists import intersecting
from app.values import clock
from tests.geometry.expensive_shapes import tiny_squares
from tests.make import Client, make_project, multi_square, square
from tests.ogc.reading import CRS84, EPSG_3857, EPSG_4326, error, found, items, names

# An L: its box is [10, 50, 11, 51], and the north-east of it is empty.
ELL = {
    "type": "Polygon",
    "coordinates": [[[10, 50], [11, 50], [11, 50.2], [10.2, 50.2], [10.2, 51], [10, 51], [10, 50]]],
}
RING = {
    "type": "Polygon",
    "coordinates": [
        [[20, 50], [21, 50], [21, 51], [20, 51], [20, 50]],
        [[20.2, 50.2], [20.2, 50.8], [20.8, 50.8], [20.8, 50.2], [20.2, 50.2]],
    ],
}


@pytest.fixture
def forests(client: Client) -> Client:
    """An account with a few projects of different shapes, states and texts."""
    make_project(client, name="Ell", geometry=ELL, external_id="E-1", description="100% oak")
    make_project(client, name="Ring", geometry=RING, description="beech_wood")
    make_project(client, name="east", geometry=multi_square((179, -17), (-180, -17), size=1))
    make_project(client, name="Nowhere", external_id="e-1")
    draft = make_project(client, name="Åland", geometry=square(19, 60, 0.5))
    client.put(f"/v1/projects/{draft['id']}", json={"status": "draft"})
    return client


BOXES = {
    "10,50,11,51": ["Ell"],
    "10.5,50.5,10.9,50.9": [],  # in its box, and not in it
    "10.19,50.19,10.5,50.5": ["Ell"],
    "11,50,12,51": ["Ell"],  # its edge
    "20.3,50.3,20.7,50.7": [],  # in its hole
    "20.1,50.3,20.7,50.7": ["Ring"],
    "170,-20,-170,-10": ["east"],
    "179.5,-17,179.6,-16": ["east"],
    "-180,-90,180,90": ["Ell", "Ring", "east", "Åland"],
    "-200,-90,-179,90": ["east"],
    "170,-20,190,-10": ["east"],
    "-1000,-1000,1000,1000": ["Ell", "Ring", "east", "Åland"],
    "10,50,0,11,51,100": ["Ell"],  # with heights
    "0,0,1,1": [],
}


@pytest.mark.slow
def test_a_box_finds_what_intersects_it(forests: Client, subtests: pytest.Subtests) -> None:
    for box, expected in BOXES.items():
        with subtests.test(box):
            assert names(forests, bbox=box) == sorted(expected)


def test_a_box_in_another_system_finds_the_same(forests: Client) -> None:
    for crs, box in ((EPSG_4326, "50,10,51,11"), (EPSG_3857, "1113194,6446275,1224514,6621294")):
        assert names(forests, bbox=box, bbox_crs=crs) == ["Ell"]
    assert names(forests, bbox="10,50,11,51", bbox_crs=CRS84) == ["Ell"]


def test_a_wrong_box_is_rejected(client: Client) -> None:
    for box, message in [
        ("1,2,3", "bbox: A box has four numbers, or six"),
        ("1,2,x,4", "bbox: A bbox is four numbers with commas; 'x' is no number."),
        ("1,5,3,4", "bbox: The southern edge of a box must be south"),
        ("nan,1,2,3", "bbox: A bbox is four numbers"),
        ("1e999,1,2,3", "bbox: The numbers of a box must be finite."),
    ]:
        assert message in error(items(client, bbox=box), 400)


def test_where_too_much_is_at_the_edge_boxes_are_compared(
    forests: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intersecting, "SHAPE_BYTES", 10)
    assert names(forests, bbox="10.5,50.5,10.9,50.9", limit=9) == ["Ell"]
    filtered = "S_INTERSECTS(geometry, BBOX(10.5,50.5,10.9,50.9))"
    both = f"{filtered} AND S_INTERSECTS(geometry, BBOX(20.3,50.3,20.7,50.7))"
    monkeypatch.setattr(intersecting, "SHAPE_BYTES", 200)  # of one of them
    assert names(forests, filter=filtered) == []
    assert "Too many features are near" in error(items(forests, filter=both), 400)
    monkeypatch.setattr(intersecting, "SHAPE_BYTES", 10)
    assert "Too many features are near" in error(items(forests, filter=filtered, limit=9), 400)


FILTERS = {
    "name = 'Ell'": ["Ell"],
    "name = 'ell'": [],
    "name <> 'Ell'": ["Nowhere", "Ring", "east", "Åland"],
    "external_id = 'e-1'": ["Nowhere"],
    "external_id <> 'e-1'": ["Ell"],  # those without one are neither
    "external_id IS NULL": ["Ring", "east", "Åland"],
    "geometry IS NULL": ["Nowhere"],
    "status = 'draft' OR external_id = 'E-1'": ["Ell", "Åland"],
    "status = 'active' AND NOT (name = 'Ell' OR name = 'Ring')": ["Nowhere", "east"],
    "name LIKE 'E%'": ["Ell"],
    "name LIKE '%a%'": ["east", "Åland"],
    "name LIKE '_ing'": ["Ring"],
    "name NOT LIKE '%n%'": ["Ell", "Nowhere", "east"],
    "description LIKE '100\\% %'": ["Ell"],
    "description LIKE '%h\\_w%'": ["Ring"],
    "description LIKE '%[o]ak'": [],
    "name IN ('Ell', 'Ring', 'x')": ["Ell", "Ring"],
    "name NOT IN ('Ell', 'Ring')": ["Nowhere", "east", "Åland"],
    "name > 'Ring'": ["east", "Åland"],  # by code point
    "name BETWEEN 'A' AND 'F'": ["Ell"],
    "area_hectares > 500000": ["Ring", "east"],
    "area_hectares <= 200000": ["Åland"],
    "area_hectares BETWEEN 1 AND 1e9 AND status = 'draft'": ["Åland"],
    "updated_at > TIMESTAMP('2020-01-01T00:00:00Z')": ["Ell", "Nowhere", "Ring", "east", "Åland"],
    "updated_at < TIMESTAMP('2020-01-01T00:00:00+02:00')": [],
    "updated_at > DATE('2020-01-01') AND name = 'Ell'": ["Ell"],
    "updated_at < DATE('2020-01-01')": [],
    "TRUE": ["Ell", "Nowhere", "Ring", "east", "Åland"],
    "S_INTERSECTS(geometry, BBOX(10.5,50.5,10.9,50.9))": [],
    "S_INTERSECTS(geometry, BBOX(10,50,11,51))": ["Ell"],
    "S_INTERSECTS(geometry, BBOX(170,-20,-170,-10))": ["east"],
    "S_INTERSECTS(geometry, POINT(20.5 50.5))": [],
    "S_INTERSECTS(geometry, POINT(20.1 50.5))": ["Ring"],
    "S_INTERSECTS(geometry, POLYGON((10.4 50.4, 12 50.4, 12 52, 10.4 50.4)))": [],
    "S_INTERSECTS(geometry, POLYGON((10.1 50.1, 12 50.4, 12 52, 10.1 50.1)))": ["Ell"],
    "S_INTERSECTS(geometry, LINESTRING(0 50.9, 30 50.9))": ["Ell", "Ring"],
    "S_INTERSECTS(geometry, POLYGON((-180 -17,-179.5 -17,-179.5 -16,-180 -17)))": ["east"],
    "S_INTERSECTS(geometry, GEOMETRYCOLLECTION(POINT(20.5 50.5), POINT(19.1 60.1)))": ["Åland"],
    "S_INTERSECTS(geometry, GEOMETRYCOLLECTION(POLYGON((10.4 50.4, 12 50.4, 12 52, 10.4 50.4)),"
    " GEOMETRYCOLLECTION(LINESTRING(20.1 50.9, 30 50.9), POINT(0 0))))": ["Ring"],
    "NOT S_INTERSECTS(geometry, BBOX(10,50,21,51))": ["east", "Åland"],
    "S_INTERSECTS(geometry, POINT(20.1 50.5)) OR S_INTERSECTS(geometry, POINT(19.1 60.1))": [
        "Ring", "Åland",
    ],
    "S_INTERSECTS(geometry, BBOX(9,49,21,51)) AND S_INTERSECTS(geometry, BBOX(20,49,30,51))": [
        "Ring",
    ],
    "(\"status\" = 'active') AND (\"name\" IS NOT NULL)": ["Ell", "Nowhere", "Ring", "east"],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.both
def test_a_geometry_of_many_edges_is_rejected_in_time(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(client, geometry=tiny_squares(5_000))
    line = f"S_INTERSECTS(geometry,LINESTRING({','.join(['-1 9,9 -1'] * 750)}))"
    monkeypatch.setattr(query_shapes, "SHAPE_SECONDS", 0.01)
    assert "Too many features are near" in error(items(client, filter=line), 400)


def test_filters_in_text(forests: Client, subtests: pytest.Subtests) -> None:
    for text, expected in FILTERS.items():
        with subtests.test(text):
            assert names(forests, filter=text, filter_lang="cql2-text") == sorted(expected)


NAME = {"property": "name"}
GEOMETRY = {"property": "geometry"}
JSON_FILTERS: list[tuple[Any, list[str]]] = [
    ({"op": "=", "args": [NAME, "Ell"]}, ["Ell"]),
    ({"op": "not", "args": [{"op": "=", "args": [{"property": "status"}, "active"]}]}, ["Åland"]),
    (
        {
            "op": "and",
            "args": [
                {"op": "like", "args": [NAME, "%w%"]},
                {"op": "isNull", "args": [GEOMETRY]},
            ],
        },
        ["Nowhere"],
    ),
    ({"op": "in", "args": [NAME, ["Ell", "Ring"]]}, ["Ell", "Ring"]),
    ({"op": "between", "args": [{"property": "area_hectares"}, 1, 200_000]}, ["Åland"]),
    ({"op": "s_intersects", "args": [GEOMETRY, {"bbox": [10, 50, 11, 51]}]}, ["Ell"]),
    (
        {"op": "s_intersects", "args": [GEOMETRY, {"type": "Point", "coordinates": [20.1, 50.5]}]},
        ["Ring"],
    ),
    (
        {
            "op": ">=",
            "args": [{"property": "updated_at"}, {"timestamp": "2020-01-01T00:00:00Z"}],
        },
        ["Ell", "Nowhere", "Ring", "east", "Åland"],
    ),
    ({"op": "or", "args": [False, {"op": "=", "args": ["Ell", NAME]}]}, ["Ell"]),
    ({"op": "<", "args": [{"property": "updated_at"}, {"date": "2020-01-01"}]}, []),
    ({"op": "s_intersects", "args": [GEOMETRY, {"type": "GeometryCollection", "geometries": [
        {"type": "Point", "coordinates": [20.1, 50.5]},
        {"type": "LineString", "coordinates": [[10.1, 50.1], [10.4, 50.4]]},
    ]}]}, ["Ell", "Ring"]),
]  # fmt: skip


def test_filters_in_json(forests: Client, subtests: pytest.Subtests) -> None:
    for value, expected in JSON_FILTERS:
        with subtests.test(str(value)):
            text = json.dumps(value)
            assert names(forests, filter=text, filter_lang="cql2-json") == sorted(expected)


def test_the_geometries_of_a_filter_can_be_in_another_system(forests: Client) -> None:
    box = "S_INTERSECTS(geometry, BBOX(50,10,51,11))"
    assert names(forests, filter=box, filter_crs=EPSG_4326) == ["Ell"]
    dot = "S_INTERSECTS(geometry, POINT(1113300 6446400))"
    assert names(forests, filter=dot, filter_crs=EPSG_3857) == ["Ell"]


def test_parameters_are_combined(forests: Client) -> None:
    text = "name LIKE '%in%'"
    assert names(forests, filter=text, bbox="9,49,22,52", status="active") == ["Ring"]
    assert names(forests, filter=text, bbox="9,49,22,52", status="draft") == []


PROPERTIES = {
    "status": ("draft", ["Åland"]),
    "name": ("Ell", ["Ell"]),
    "slug": ("ring", ["Ring"]),
    "external_id": ("E-1", ["Ell"]),
    "description": ("beech_wood", ["Ring"]),
}


@pytest.mark.both
def test_properties_are_parameters(forests: Client) -> None:
    for name, (value, expected) in PROPERTIES.items():
        assert names(forests, **{name: value}) == expected
    (one,) = found(items(forests, name="Ell"))
    for name in ("id", "area_hectares", "created_at", "updated_at"):
        assert names(forests, **{name: one["properties"][name]}) == ["Ell"]


def test_a_property_of_the_wrong_kind_is_rejected(client: Client) -> None:
    assert "area_hectares: Must be a number." in error(items(client, area_hectares="x"), 400)
    assert "created_at: Must be an RFC 3339" in error(items(client, created_at="today"), 400)
    assert "name: Must not contain the NUL" in error(items(client, name="\x00"), 400)


@pytest.mark.both
def test_datetime_is_about_the_last_change(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    midnight = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    made = []
    for number, hours in enumerate((0, 12, 24)):
        time = midnight + timedelta(hours=hours, milliseconds=-(hours == 24))
        monkeypatch.setattr(clock, "now", lambda time=time: time)
        made.append(make_project(client, name=f"P{number}"))
    first, middle, last = (project["updated_at"] for project in made)
    day, before, after = ((midnight + timedelta(days=n)).date().isoformat() for n in (0, -1, 1))
    expected = {
        middle: ["P1"],
        f"{middle}/{last}": ["P1", "P2"],
        f"../{middle}": ["P0", "P1"],
        f"/{middle}": ["P0", "P1"],
        f"{middle}/..": ["P1", "P2"],
        f"{middle}/": ["P1", "P2"],
        "2000-01-01T00:00:00Z/2001-01-01T00:00:00Z": [],
        day: ["P0", "P1", "P2"],
        f"{day}T": ["P0", "P1", "P2"],
        f"{day}/{day}": ["P0", "P1", "P2"],
        f"../{day}": ["P0", "P1", "P2"],
        f"{day}/..": ["P0", "P1", "P2"],
        f"{middle}/{day}": ["P1", "P2"],
        f"{day}/{first}": ["P0"],
        before: [],
        f"../{before}": [],
        f"{after}/..": [],
        f"{after}/9999-12-31": [],
    }
    for text, wanted in expected.items():
        assert names(client, datetime=text) == wanted
    assert names(client, filter=f"updated_at <= DATE('{day}')") == ["P0"]  # the start of the day


def test_a_wrong_datetime_is_rejected(client: Client) -> None:
    for text in ["", "../..", "/", "2026", "2026-01-01T00:00:00Z/x", "a/b/c"]:
        assert "datetime: Must" in error(items(client, datetime=text), 400)


def test_a_filter_that_is_not_known_is_rejected(client: Client) -> None:
    for text, message in [
        ("bees = 1", "The property 'bees' cannot be filtered by. Those that can are: id, name"),
        ("S_INTERSECTS(geometry, POINT(200 0))", "Longitudes must be within"),
    ]:
        assert message in error(items(client, filter=text), 400)
    deep = f'{{"type": "Polygon", "coordinates": {"[" * 300}{"]" * 300}}}'
    text = f'{{"op": "s_intersects", "args": [{{"property": "geometry"}}, {deep}]}}'
    response = items(client, filter=text, filter_lang="cql2-json")
    assert "nested more than 20 levels deep" in error(response, 400)


def test_a_pattern_of_many_wildcards_takes_no_time(client: Client) -> None:
    make_project(client, description="a" * 10_000)
    pattern = "%a" * 90 + "%b"
    assert names(client, filter=f"description LIKE '{pattern}'") == []
