"""The validator of EUDR files finds each fault, and none in a good file."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.eudr.rings import Positions, readings_of
from tests.eudr.validator import FAULTS, NOTES, codes_of, faults_of

SQUARE = [[-1.5, 6.5], [-1.49, 6.5], [-1.49, 6.51], [-1.5, 6.51], [-1.5, 6.5]]


def polygon(*rings: Any) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


def point(*position: float) -> dict[str, Any]:
    return {"type": "Point", "coordinates": list(position or (-1.6, 6.4))}


def square(west: float, south: float, size: float = 0.01) -> list[list[float]]:
    east, north = round(west + size, 9), round(south + size, 9)
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def plot(geometry: Any, name: str = "Ama Boateng", **properties: Any) -> dict[str, Any]:
    """A feature with good properties but for those given; None leaves a property out."""
    given: dict[str, Any] = {"ProducerName": name, "ProducerCountry": "GH", "ProductionPlace": "A"}
    kept = {key: value for key, value in (given | properties).items() if value is not None}
    return {"type": "Feature", "properties": kept, "geometry": geometry}


def text_of(*features: Any, **members: Any) -> bytes:
    document = {"type": "FeatureCollection", **members, "features": list(features)}
    return json.dumps(document, ensure_ascii=False).encode()


def codes(*features: Any, **options: Any) -> set[str]:
    return codes_of(text_of(*features), **options)


GOOD = {
    "a polygon": text_of(plot(polygon(SQUARE), Area=123.4)),
    "a point": text_of(plot(point(), Area=4)),
    "a point without its area": text_of(plot(point())),
    "the least area": text_of(plot(point(), Area=0.0001)),
    "a feature alone": json.dumps(plot(polygon(SQUARE))).encode(),
    "without properties": json.dumps(plot(point()) | {"properties": None}).encode(),
    "half-moons in features": text_of(
        plot(polygon([[0, 0], [3, 0], [3, 1], [2, 1], [1, 1], [0, 1], [0, 0]])),
        plot(polygon([[0, 1], [1, 1], [1, 2], [2, 2], [2, 1], [3, 1], [3, 3], [0, 3], [0, 1]])),
    ),
    "a height, an exponent": b'{"type":"Feature","properties":{},"geometry":'
    b'{"type":"Point","coordinates":[1.5e1,-0.000001,12.5]}}',
    "a long name": text_of(plot(point(), "x" * 500)),
    "the edge of the world": text_of(plot(polygon([[179, 89], [180, 89], [180, 90], [179, 89]]))),
    "WGS 84 by name": text_of(
        plot(point()), crs={"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    ),
}  # fmt: skip


def test_good_files_have_no_fault(subtests: pytest.Subtests) -> None:
    for name, data in GOOD.items():
        with subtests.test(name):
            assert [str(fault) for fault in faults_of(data)] == []


def test_a_good_file_of_several_producers() -> None:
    data = text_of(
        plot(point(), "Ama"), plot(point(), "Ama", ProducerCountry="CI"), plot(point(), "Yaw")
    )
    assert codes_of(data, variant=2) == set()
    assert codes_of(data, variant=1) == {"several_producers"}
    assert codes_of(data, variant=1, notes=False) == set()


def broken() -> list[tuple[str, bytes]]:
    """Each fault, with files that have it and no other fault."""
    near = [[-5.8227391234, 1.2567071234], [-5.8227394567, 1.2567074567]]  # the Commission's
    area = {"ProductionPlace": "B"}
    ring = polygon
    features = [
        ("feature", {"type": "Feature", "properties": {}, "geomerty": point()}),
        ("feature", plot(point()) | {"properties": [1]}),
        ("feature", {"type": "feature", "properties": {}, "geometry": point()}),
        ("geometry_type", plot({"type": "LineString", "coordinates": SQUARE})),
        ("geometry_type", plot({"type": "MultiPoint", "coordinates": SQUARE})),
        ("geometry_type", plot({"type": "polygon", "coordinates": [SQUARE]})),
        ("geometry", plot(None)),
        ("geometry", plot({"type": "Polygon"})),
        ("geometry", plot({"type": "Polygon", "coordinates": SQUARE})),
        ("geometry", plot({"type": "Point", "coordinates": ["1", "2"]})),
        ("geometry", plot({"type": "Point", "coordinates": [1]})),
        ("point_list", plot({"type": "Point", "coordinates": [[1, 2]]})),
        ("range", plot(point(180.000001, 0))),
        ("range", plot(point(0, -90.000001))),
        ("decimals", plot(point(1.0000001, 2))),
        ("few_positions straight_line", plot(ring([[0, 0], [1, 0], [0, 0]]))),
        ("open_ring", plot(ring(SQUARE[:-1]))),
        ("open_ring", plot(ring([*SQUARE[:-1], [-1.5, 6.500001]]))),
        ("hole", plot(ring(SQUARE, square(-1.496, 6.504, 0.002)))),
        ("equal_positions", plot(ring([SQUARE[0], *SQUARE]))),
        ("equal_positions decimals", plot(ring([near[1], near[0], [-5, 1], [-5, 2], near[1]]))),
        ("straight_line", plot(ring([[0, 0], [1, 1], [3, 3], [0, 0]]))),
        ("sides_meet", plot(ring([[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]))),
        ("sides_meet", plot(ring([[0, 0], [2, 0], [2, 2], [2, 1], [0, 1], [0, 0]]))),
        ("sides_meet", plot(ring([[0, 0], [4, 0], [4, 1], [3, 0], [1, 0], [0, 1], [0, 0]]))),
        ("sides_meet", plot(ring([[0, 0], [4, 0], [4, 4], [2, 0], [0, 4], [0, 0]]))),
        ("property_name", plot(point(), ProductionPlace=None, productionplace="A")),
        ("property_name", plot(point(), producer_name="A")),
        ("producer_name", plot(point(), "")),
        ("producer_name", plot(point(), " \u00a0")),
        ("producer_name", plot(point(), 7)),
        ("producer_name_long", plot(point(), "x" * 501)),
        *(("country", plot(point(), ProducerCountry=code)) for code in
          ("UK", "EL", "XX", "XK", "gb", "GHA", "GH ", "", 5, ["GH"])),
        ("country", plot(point()) | {"properties": {"ProducerCountry": None}}),
        ("place", plot(point(), ProductionPlace=5)),
        *(("area_type", plot(ring(SQUARE), Area=area)) for area in ("3", True, [3])),
        ("area_type", plot(ring(SQUARE)) | {"properties": {"Area": None}}),
        *(("area_range", plot(ring(SQUARE), Area=area)) for area in (0, -5, -0.0)),
        *(("area_range", plot(point(), Area=area)) for area in (0, 0.00009, 4.0001, -1)),
        ("other_property", plot(point(), id="7")),
    ]  # fmt: skip
    good = plot(point())
    files = [(code, text_of(feature)) for code, feature in features]
    many = [plot(point(), f"Producer {number:04}") for number in range(1_001)]
    again = [plot(point(), "Ama"), plot(point(), "Yaw"), plot(point(), "Ama", **area)]
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32630"}}
    files += [
        ("json", text_of(good)[:-1]),
        ("json", b"\xef\xbb\xbf" + text_of(good)),
        ("json", text_of(good).replace(b"Ama", b"\xff")),
        ("json", text_of(good).replace(b"6.4", b"NaN")),
        ("json", text_of(good).replace(b'"ProductionPlace"', b'"ProducerName"')),
        ("json", b"[" * 100_000),
        ("document", b"[]"),
        ("document", b'{"type": "FeatureCollection"}'),
        ("document", text_of()),
        ("crs", text_of(good, crs=crs)),
        ("too_large", text_of(good) + b" " * 25_000_000),
        ("duplicate_plot", text_of(good, good)),
        ("duplicate_plot", text_of(good, good | {"geometry": dict(reversed(point().items()))})),
        ("several_producers", text_of(good, plot(point(), "Yaw"))),
        ("several_producers too_many_producers", text_of(*many)),
        ("several_producers not_grouped", text_of(*again)),
    ]
    return files


def test_each_fault_is_found_and_no_other(subtests: pytest.Subtests) -> None:
    cases = broken()
    for names, data in cases:
        with subtests.test(f"{names}: {data[:150]!r}"):
            assert codes_of(data) == set(names.split()), list(map(str, faults_of(data)))
    found = {name for names, _ in cases for name in names.split()}
    assert found == FAULTS.keys() | NOTES.keys()


def test_each_feature_of_variant_2_needs_its_country() -> None:
    features = plot(point()), plot(point(1, 2), ProducerCountry=None)
    assert codes(features[1], variant=1) == set()
    found = faults_of(text_of(*features), variant=2)
    assert [(fault.code, fault.feature) for fault in found] == [("country", 1)]


def test_cattle_may_have_more_than_4_hectares_at_a_point() -> None:
    assert codes(plot(point(), Area=400), cattle=True) == set()
    assert codes(plot(point(), Area=0.00001), cattle=True) == {"area_range"}


# Readings


def readings_with(code: str, ring: list[list[float]], **options: Any) -> tuple[str, ...]:
    found = faults_of(text_of(plot(polygon(ring))), **options)
    assert {fault.code for fault in found} <= {code, "decimals"}
    return tuple(name for fault in found if fault.code == code for name in fault.readings)


def test_each_reading_breaks_other_rings() -> None:
    """The tip of a notch is some tenths of a millionth from the other side."""
    for tip, readings in (
        (2.0000003, ("binary", "truncated", "rounded")),
        (2.0000007, ("binary", "truncated")),
    ):
        ring = [[1, 2], [1.01, 2], [1.01, 2.01], [1.005, tip], [1, 2.01], [1, 2]]
        assert readings_with("sides_meet", ring) == readings
    ring = [[1, 2.000001], [1.01, 2.000001], [1.01, 2], [1.005, 2.0000006], [1, 2], [1, 2.000001]]
    assert readings_with("sides_meet", ring) == ("rounded",)


def test_a_ring_with_six_decimals_that_only_binary_truncation_breaks() -> None:
    """Its tip loses a millionth, and its lower side does not."""
    tip = next(
        number / 1e6
        for number in range(2_000_000, 3_000_000)
        if math.trunc(number / 1e6 * 1e6) < number
        and math.trunc((number - 1) / 1e6 * 1e6) == number - 1
    )
    base = round(tip - 1e-6, 6)
    ring = [[1, base], [1.01, base], [1.01, 5], [1.005, tip], [1, 5], [1, base]]
    assert readings_with("sides_meet", ring) == ("binary",)


def test_numbers_are_read_by_their_text() -> None:
    texts = [("-0.0000005", "0.0000004"), ("-1.2345678", "7")]
    doubles = [(float(x), float(y)) for x, y in texts]
    read = readings_of(Positions(texts, doubles))
    assert read["written"] == [(-5, 4), (-12345678, 70000000)]
    assert read["truncated"] == [(0, 0), (-1234567, 7000000)]
    assert read["rounded"] == [(-1, 0), (-1234568, 7000000)]
    assert read["binary"] == [(0, 0), (-1234567, 7000000)]
