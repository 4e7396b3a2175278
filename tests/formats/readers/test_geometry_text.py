"""Geometries as WKT, WKB and GeoJSON, and those that are made to do harm."""

from __future__ import annotations

import random
import struct
from itertools import product
from typing import Any

import pytest
import shapely

from app.formats.readers.geometry_text import is_geometry, read_geometry_text
from app.formats.readers.wkb import ReadGeometry
from app.geometry import GeometryInvalid
from app.policy.request_limits import GEOMETRY_POSITIONS

POINT = {"type": "Point", "coordinates": [1, 2]}
SQUARE = "((0 0, 1 0, 1 1, 0 0))"


def wkb(text: str, **options: Any) -> str:
    return str(shapely.to_wkb(shapely.from_wkt(text), hex=True, **options))


def problem(text: str) -> tuple[str, str]:
    with pytest.raises(GeometryInvalid) as refused:
        read_geometry_text(text)
    (found,) = refused.value.problems
    return found.code, found.message


def test_ways_to_write_a_point() -> None:
    for text, srid in (
        ("POINT (1 2)", None),
        (" point(1  2)\n", None),
        ("SRID=25832;POINT(1 2)", 25832),
        ("srid = 0; Point (1 2)", None),
        (wkb("POINT (1 2)"), None),
        (wkb("POINT (1 2)", byte_order=0), None),
        ("\\x" + wkb("POINT (1 2)").lower(), None),
        ("0101000020EB7A0000000000000000F03F0000000000000040", 31467),
        ('{"type": "Point", "coordinates": [1, 2]}', 4326),
    ):
        found = read_geometry_text(text)
        assert (found.geometry, found.srid, found.is_flat) == (POINT, srid, True), text
        assert is_geometry(text), text


def test_heights_and_measures_are_left_out() -> None:
    for text in (
        "POINT Z (1 2 3)",
        "POINTZ(1 2 3)",
        "POINT (1 2 3)",
        "POINT M (1 2 3)",
        "POINT ZM (1 2 3 4)",
        *(wkb(f"POINT {kind} (1 2 3)", flavor=flavor) for kind in "ZM" for flavor in ("iso",)),
        *(wkb("POINT Z (1 2 3)", flavor=flavor) for flavor in ("iso", "extended")),
        wkb("POINT ZM (1 2 3 4)", flavor="iso"),
    ):
        assert read_geometry_text(text) == ReadGeometry(POINT, None, 1, is_flat=False), text


def test_wkb_is_what_wkt_is() -> None:
    for text in (
        "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 9 5, 9 9, 5 5), (6 5, 7 5, 7 6, 6 5)))",
        f"POLYGON {SQUARE}",
        "MULTIPOINT ((1 2), (3 4))",
        "MULTILINESTRING ((1 2, 3 4), (5 6, 7 8))",
        "LINESTRING (1 2, 3 4)",
    ):
        flat = shapely.from_wkt(text)
        expected = read_geometry_text(text).geometry
        for geometry, flavor in product((flat, shapely.force_3d(flat, 5)), ("iso", "extended")):
            found = read_geometry_text(str(shapely.to_wkb(geometry, True, flavor=flavor)))
            assert found.geometry == expected
            assert found.is_flat is not shapely.has_z(geometry)


def test_a_collection_has_what_is_in_it() -> None:
    for as_wkb in (False, True):
        area = "POLYGON Z ((0 0 1, 1 0 1, 1 1 1, 0 0 1))"
        inner = f"GEOMETRYCOLLECTION Z ({area}, POINT Z (4 5 6))"
        text = f"GEOMETRYCOLLECTION Z (POINT Z (1 2 3), {inner})"
        found = read_geometry_text(wkb(text) if as_wkb else text)
        assert found.geometry is not None
        point, members = found.geometry["geometries"]
        assert point == POINT
        assert [each["type"] for each in members["geometries"]] == ["Polygon", "Point"]
        assert (found.positions, found.is_flat, found.has_arcs) == (6, False, False)


def test_a_collection_of_one_geometry_is_that_geometry() -> None:
    assert read_geometry_text("GEOMETRYCOLLECTION (POINT (1 2))").geometry == POINT


def test_numbers_are_the_doubles_of_the_text() -> None:
    chosen = random.Random(7)
    texts = [f"{chosen.uniform(-180, 180):.{chosen.randint(0, 25)}f}" for _ in range(2_000)]
    pairs = [" ".join(texts[index : index + 2]) for index in range(0, len(texts), 2)]
    found = read_geometry_text(f"LINESTRING ({', '.join(pairs)})").geometry
    assert found is not None
    assert [x for pair in found["coordinates"] for x in pair] == [float(text) for text in texts]


def test_empty_geometries_are_none() -> None:
    for text in (
        *("POINT EMPTY", "MULTIPOLYGON Z EMPTY", wkb("POINT EMPTY"), "CURVEPOLYGON EMPTY"),
        *("GEOMETRYCOLLECTION EMPTY", "GEOMETRYCOLLECTION (POINT EMPTY, MULTICURVE EMPTY)"),
    ):
        assert read_geometry_text(text).geometry is None, text


def test_what_cannot_be_read() -> None:
    for text, code, message in (
        ("circle", "unreadable", '"circle" is neither WKT, nor WKB'),
        ("POINT (1 x)", "unreadable", "Expected number but encountered word: 'x'"),
        ("POINT (1, 2)", "unreadable", "Expected number"),
        ("POINT (1 2", "unreadable", "end of stream"),
        ("POINT (1 2) x", "unreadable", "Unexpected text"),
        ("POINT (1 nan)", "not_a_number", "not finite"),
        ("POINT (1 1e999)", "not_a_number", "not finite"),
        ("POLYGON ((0 0, 1 0, 1 1))", "not_closed", "Repeat its first position"),
        ("CIRCULARSTRING (0 0, 1 1)", "unreadable", "must contain 0 or >2 elements"),
        ("TIN (((0 0 1, 1 0 1, 1 1 1, 0 0 1)))", "wrong_type", "is a TIN. Make it of points"),
        (struct.pack("<BIdd", 1, 1, 10, 45).hex()[:-1], "unreadable", "incomplete or damaged"),
        (struct.pack("<BIIBI", 1, 4, 1, 1, 2).hex(), "wrong_type", "mixes geometry types"),
        (struct.pack("<BIIBI", 1, 9, 1, 1, 3).hex(), "wrong_type", "mixes geometry types"),
        (struct.pack("<BIIdd", 1, 8, 1, 0, float("nan")).hex(), "not_a_number", "not finite"),
        (struct.pack("<BIQ", 1, 1016, 0).hex(), "wrong_type", "is a TIN. Make it of points"),
        ('{"type": "Point", "coordinates": [1,', "unreadable", "is not JSON"),
        ('{"a":' * 100_000, "unreadable", "is not JSON"),
    ):
        found = problem(text)
        assert found[0] == code, text
        assert message in found[1], text


def test_nested_wkt_is_refused() -> None:
    for text in ("GEOMETRYCOLLECTION(", "MULTIPOINT(", "CURVEPOLYGON("):
        assert problem(text * 300_000)[0] in ("wrong_type", "unreadable"), text


def test_nested_wkb_is_refused() -> None:
    """GEOS takes a member of any type, and then another in it, before it looks at the type."""
    for kind in (4, 5, 6, 7, 9, 12):
        for before in (b"", struct.pack("<BIIBIdd", 1, 4, 2, 1, 1, 0, 0)):
            code, message = problem((before + struct.pack("<BII", 1, kind, 2) * 30_000).hex())
            assert code == "wrong_type" or "nested too deeply" in message, (kind, before)


def test_wkb_that_promises_too_much_is_refused() -> None:
    for data in (
        struct.pack("<BIIdd", 1, 2, 2**32 - 1, 0, 0),
        struct.pack("<BIIId", 1, 3, 2**32 - 1, 2**31, 0),
        struct.pack("<BIIBI", 1, 6, 2**32 - 1, 1, 3),
        struct.pack("<BI", 1, 1) + bytes(15),
        struct.pack("<BII", 1, 2, 1),
        struct.pack("<BII", 1, 8, 3) + bytes(40),  # 2.5 positions
        struct.pack("<BI", 1, 10),
        struct.pack("<BIII", 1, 10, 2**32 - 1, 0),
        struct.pack("<BIIdd", 1, 8, 2**32 - 1, 0, 0),
        struct.pack("<BII", 1, 7, 2**32 - 1) + struct.pack("<BIIBII", 1, 5, 0, 1, 5, 0) * 110_000,
    ):
        assert problem(data.hex())[0] in ("unreadable", "too_many_positions"), data


def test_too_many_positions_are_refused() -> None:
    for start, repeated, times, end in (
        ("LINESTRING (", "1 2,", GEOMETRY_POSITIONS, "1 2)"),
        (struct.pack("<BII", 1, 3, 250_000).hex(), "00000000", 250_000, ""),
        (
            struct.pack("<BII", 1, 4, 210_000).hex(),
            struct.pack("<BIQQ", 1, 1, 0, 0).hex(),
            210_000,
            "",
        ),
        ('{"type": "LineString", "coordinates": [', "[1,2],", 210_000, "[1,2]]}"),
        ('{"a": [', "{},", 1_000_000, "{}]}"),
        ('{"a": [', "1,", 1_000_000, "1]}"),
    ):
        text = start + repeated * times + end
        assert problem(text)[0] == "too_many_positions", start


def test_what_does_not_look_like_a_geometry() -> None:
    for text in (
        "",
        "circle",
        "points",
        "POINTLESS (1",
        "0101",
        "deadbeef" * 9,
        "00" + "c" * 30,
        "[1, 2]",
    ):
        assert not is_geometry(text), text
