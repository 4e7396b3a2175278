"""GeoJSON as programs write it, and as nobody should."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from app.formats.features import Layer
from app.formats.readers.geojson import GeoJsonReader
from app.geometry import read_boundary
from app.policy.files import COLUMNS, VALUE_BYTES
from tests.formats.readers.gdal import AREAS, NAMES, write
from tests.formats.readers.reading import features, refusal
from tests.make import point, square
from tests.make.features import collection, feature


def written(folder: Path, content: bytes) -> Path:
    path = folder / "upload.geojson"
    path.write_bytes(content)
    return path


def reader(folder: Path, content: bytes) -> GeoJsonReader:
    return GeoJsonReader(written(folder, content))


def refused(folder: Path, content: bytes) -> str:
    return refusal(GeoJsonReader, written(folder, content))


def named(crs: str) -> dict[str, Any]:
    return {"type": "name", "properties": {"name": crs}}


def test_a_feature_collection(tmp_path: Path) -> None:
    first, second = feature(square(), name="a", trees=7), feature(None, name="b", tags=["x"])
    opened = reader(tmp_path, collection(first, second, name="Forests"))
    assert opened.layers == (Layer("Forests", 2, ("name", "trees", "tags")),)
    for _ in range(2):  # as often as one likes
        one, two = features(opened)
        assert (one.number, one.geometry, one.properties) == (
            1,
            square(),
            {"name": "a", "trees": 7},
        )
        assert (two.number, two.geometry, two.properties) == (2, None, {"name": "b", "tags": ["x"]})
    assert opened.notes == []


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lambda one, two: one + b"\n" + two + b"\n", id="newline-delimited"),
        pytest.param(lambda one, two: b"\x1e" + one + b"\n\x1e" + two + b"\n", id="RFC 8142"),
        pytest.param(lambda one, two: b"\xef\xbb\xbf" + one + two, id="byte order mark"),
    ],
)
def test_features_one_after_the_other(tmp_path: Path, content: Any) -> None:
    first, second = feature(square(), name="a"), feature(None, name="b")
    opened = reader(tmp_path, content(json.dumps(first).encode(), json.dumps(second).encode()))
    assert opened.layers == (Layer("upload", 2, ("name",)),)
    assert [one.geometry for one in features(opened)] == [square(), None]


def test_geometries_without_features(tmp_path: Path) -> None:
    several = {"type": "GeometryCollection", "geometries": [point(), square()]}
    opened = reader(tmp_path, b"\n".join(json.dumps(one).encode() for one in (square(), several)))
    assert opened.layers == (Layer("upload", 2, ()),)
    found = [(one.geometry, one.properties) for one in features(opened)]
    assert found == [(square(), {}), (several, {})]


def test_an_array_of_features(tmp_path: Path) -> None:
    first, second = {**feature(square(), name="a"), "id": 7}, feature(None, trees=1)
    opened = reader(tmp_path, json.dumps([first, second]).encode())
    assert opened.layers == (Layer("upload", 2, ("name", "id", "trees")),)
    assert [one.geometry for one in features(opened)] == [square(), None]
    assert [one.number for one in features(opened)] == [1, 2]


def test_collections_in_a_collection(tmp_path: Path) -> None:
    inner = [json.loads(collection(feature(square(n), **{f"c{n}": n}), crs=None)) for n in (1, 2)]
    outer = collection(inner[0], feature(square(3), c3=3), inner[1], json.loads(collection()))
    opened = reader(tmp_path, outer)
    assert opened.layers[0].features == 3
    assert {*opened.layers[0].columns} == {"c1", "c2", "c3"}
    found = [(one.number, one.geometry, one.properties) for one in features(opened)]
    assert found == [(n, square(m), {f"c{m}": m}) for n, m in ((1, 1), (2, 3), (3, 2))]


def test_collections_at_any_depth(tmp_path: Path, subtests: pytest.Subtests) -> None:
    def around(*members: Any) -> dict[str, Any]:
        return {"type": "FeatureCollection", "features": [*members]}

    one, two = feature(square(), name="a"), feature(square(1), kind="b")
    for name, value, number in (
        ("three deep", around(around(around(one))), 1),
        ("four deep, beside others", around(one, around(around(around(two)), one)), 3),
        ("an array of collections", [around(one), around(two, around(one))], 3),
    ):
        with subtests.test(name):
            opened = reader(tmp_path, json.dumps(value).encode())
            found = list(features(opened))
            assert opened.layers[0].features == len(found) == number
            assert {*opened.layers[0].columns} == {
                column for each in found for column in each.properties
            }
            assert [each.number for each in found] == [*range(1, number + 1)]
            assert not any(each.problems for each in found)


def test_an_array_of_collections_with_a_crs(tmp_path: Path) -> None:
    meters = feature({"type": "Point", "coordinates": [500_000, 5_200_000]})
    one, other = (json.loads(collection(meters, crs=named(f"EPSG:{n}"))) for n in (25832, 25833))
    (layer,) = (opened := reader(tmp_path, json.dumps([one, one]).encode())).layers
    assert layer.crs == "EPSG:25832"
    assert [each.geometry["coordinates"][0] for each in features(opened) if each.geometry] == [9, 9]
    assert (
        "several coordinate systems" in reader(tmp_path, json.dumps([one, other]).encode()).notes[0]
    )


def test_more_numbers_than_expected(tmp_path: Path, subtests: pytest.Subtests) -> None:
    nan, heights = float("nan"), "Heights were left out."
    empty = "The file has numbers such as NaN, which were read as empty."
    (ring,) = square()["coordinates"]
    for name, more, text, notes in (
        ("height and measure", [100, 5], "a", [heights]),
        ("height", [100], "a", []),
        ("no height", [nan], "a", [empty, heights]),
        ("texts stay", [-float("inf")], 'say "NaN", -Infinity\\', [empty, heights]),
        ("only a text", [], "NaN", []),
    ):
        with subtests.test(name):
            shape = {"type": "Polygon", "coordinates": [[[*position, *more] for position in ring]]}
            opened = reader(
                tmp_path, collection(feature(shape, name=text, h=nan if nan in more else 1))
            )
            (found,) = features(opened)
            assert found.properties == {"name": text, "h": None if nan in more else 1}
            assert opened.notes == notes
            assert found.geometry == (shape if more == [100] else square())
    opened = reader(tmp_path, collection(feature({"type": "Point", "coordinates": [nan, 47]})))
    assert [each.geometry for each in features(opened)] == [
        {"type": "Point", "coordinates": [None, 47]}
    ]
    assert opened.notes == [empty]


def test_what_is_no_geometry_is_named(tmp_path: Path) -> None:
    for kind in ("FeatureCollection", "Feature"):
        (one,) = features(reader(tmp_path, collection(feature({"type": kind, "features": []}))))
        assert one.geometry is None, kind
        assert one.problems[0].message.startswith(
            f"The geometry is a {kind}. Put what is in it beside"
        ), kind


def test_other_arrays_are_refused(tmp_path: Path) -> None:
    for value in (
        [[feature(None)]],
        [1, 2],
        [],
        ["Feature"],
    ):
        assert "It must be a GeoJSON FeatureCollection" in refused(
            tmp_path, json.dumps(value).encode()
        ), value


def test_the_id_of_a_feature_is_a_property(tmp_path: Path) -> None:
    content = collection(
        {**feature(None, name="a"), "id": "way/7"},
        {**feature(None, name="b"), "id": 8},
        {**feature(None, id=None), "id": 9},
        {**feature(None), "id": None},
    )
    opened = reader(tmp_path, content)
    assert opened.layers[0].columns == ("name", "id")
    assert [one.properties for one in features(opened)] == [
        {"id": "way/7", "name": "a"},
        {"id": 8, "name": "b"},
        {"id": None},
        {},
    ]


def test_numbers_are_the_doubles_of_the_file(tmp_path: Path) -> None:
    chosen = random.Random(7)
    texts = [f"{chosen.uniform(-180, 180):.{chosen.randint(0, 25)}f}" for _ in range(2_000)]
    texts += ["1e2", "-0.0", "1.7976931348623157e308", "5e-324", "0.1", "-122.65180000000001"]
    content = f'{{"type":"Feature","geometry":null,"properties":{{"n":[{",".join(texts)}]}}}}'
    (one,) = features(reader(tmp_path, content.encode()))
    numbers = one.properties["n"]
    expected = [json.loads(text) for text in texts]
    assert [type(number) for number in numbers] == [type(number) for number in expected]
    assert [struct.pack("d", n) for n in numbers] == [struct.pack("d", n) for n in expected]


def test_a_crs_that_says_what_the_standard_says(tmp_path: Path) -> None:
    for crs in ("urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326"):
        high = {"type": "Point", "coordinates": [9.0, 50.0, 312.5]}
        opened = reader(tmp_path, collection(feature(high), crs=named(crs)))
        assert opened.layers[0].crs == "EPSG:4326", crs
        assert features(opened)[0].geometry == high, crs


def test_another_crs_is_transformed(tmp_path: Path) -> None:
    for crs in (
        named("urn:ogc:def:crs:EPSG::31467"),
        named("urn:ogc:def:crs:EPSG:31467"),
        named("EPSG:31467"),
        {"type": "EPSG", "properties": {"code": 31467}},
        "EPSG:31467",
    ):
        place = {"type": "Point", "coordinates": [3_500_000, 5_540_000, 312.5]}
        content = [collection(feature(place), crs=crs)]
        content.append(json.dumps({**feature(place), "crs": crs}).encode() * 2)
        for text in content:
            opened = reader(tmp_path, text)
            assert (opened.layers[0].crs, opened.layers[0].accuracy) == ("EPSG:31467", 3)
            geometry = features(opened)[0].geometry
            assert geometry is not None
            # The arc of the meridian to 50° is 278 m longer on Bessel's ellipsoid; then the datum.
            assert geometry["coordinates"] == pytest.approx([8.999, 49.9963], abs=0.0001)
            transformed, heights = opened.notes
            assert "accurate to about 3 m" in transformed
            assert heights == "Heights were left out."


def test_positions_that_cannot_be_transformed(tmp_path: Path) -> None:
    shapes = [
        {"type": "Point", "coordinates": [1e9, 1e9]},
        {"type": "Point", "coordinates": ["x", 1]},
        {"type": "GeometryCollection", "geometries": 5},
    ]
    opened = reader(tmp_path, collection(*map(feature, shapes), crs=named("EPSG:25832")))
    codes = [[problem.code for problem in one.problems] for one in features(opened)]
    assert codes == [["out_of_range"], ["wrong_position"], ["wrong_position"]]


def test_what_is_no_feature(tmp_path: Path) -> None:
    for value, code in (
        (7, "not_a_feature"),
        ({"type": "Point", "coordinates": [0, 0]}, "not_a_feature"),
        ({**feature(), "geometry": [1, 2], "properties": {"name": "x"}}, "not_an_object"),
    ):
        opened = reader(tmp_path, collection(value, feature(name="good")))
        wrong, good = features(opened)
        assert opened.layers[0].features == 2, value
        assert [problem.code for problem in wrong.problems] == [code], value
        assert good.properties == {"name": "good"}, value


def test_files_of_gdal(tmp_path: Path) -> None:
    for driver, crs in (
        ("GeoJSON", "EPSG:4326"),
        ("GeoJSON", "EPSG:32610"),
        ("GeoJSONSeq", "EPSG:4326"),
    ):
        precise = {"COORDINATE_PRECISION": "12"}
        path = write(tmp_path / "districts", driver, crs=crs, layer_options=precise)
        opened = GeoJsonReader(path)
        assert opened.layers == (Layer("districts", len(NAMES), ("name",), crs, 0),), driver
        for one, name, area in zip(features(opened), NAMES, AREAS, strict=True):
            assert one.properties == {"name": name}
            assert read_boundary(one.geometry).area_m2 == pytest.approx(area, rel=1e-6)


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    for content, told in (
        (b"", "is empty"),
        (b"[]", "is JSON, but not GeoJSON"),
        (b'"FeatureCollection"', "is JSON, but not GeoJSON"),
        (b'{"type":"Nothing"}', 'contains a value of the type "Nothing"'),
        (b'{"type":"Topology"}', 'contains a value of the type "Topology"'),
        (b'{"type":7}', 'of the type "7"'),
        (collection() + b'{"type":"Feature"}', "mixes Feature and FeatureCollection"),
        (collection(), "has no features"),
        (collection(feature())[:-1], "incomplete"),
        (b'{"type":"FeatureCollection","features":[Infinite]}', "near byte 50"),
        (b'{"type":"FeatureCollection","features":["\xff"]}', "near byte"),
        (b'{"type":"FeatureCollection","features":[{},]}', """features":[{},]}": """),
        (b'{"type":"FeatureCollection","features":[1e999]}', "A number near byte 47 is too large"),
        (b'{"type":"Feature","id":18446744073709551616}', "A number near byte 44 is too large"),
        (b'{"type":"Feature","id":"\\udfff"}', "half a character"),
        (b'{"type":"FeatureCollection","features":' + b"[" * 100_000, "too deeply"),
        (b'{"type":"Feature","properties":{"a":' + (b"[" * 450 + b" " * 9000) * 50, "too deeply"),
        (b'{"type":"Feature","properties":{"a":' + b"[" * 101 + b"]" * 101 + b"}}", "too deeply"),
        (collection(feature(name="x" * (VALUE_BYTES + 1))), "longer than 1 MiB"),
        (collection(feature(**{f"c{n}": n for n in range(COLUMNS + 1)})), "more than 500 columns"),
    ):
        assert told in refused(tmp_path, content), content


def test_a_crs_that_cannot_be_used_is_no_crs(tmp_path: Path) -> None:
    for content, told in (
        (collection(feature(), crs=named("EPSG:999999")), "not a known coordinate reference"),
        (
            collection(feature(), crs={"type": "link", "properties": {"href": "x"}}),
            "names no coordinate",
        ),
        (collection(feature(), crs={"type": "name", "properties": {}}), "names no coordinate"),
        (collection(feature(), crs=7), "names no coordinate"),
        (collection(feature(), crs="EPSG:25832") + collection(feature()), "Only some parts"),
        (
            collection(feature(), crs="EPSG:25832") + collection(feature(), crs="EPSG:25833"),
            "names several coordinate systems",
        ),
    ):
        opened = reader(tmp_path, content)
        (layer,) = opened.layers
        assert (layer.crs, layer.accuracy) == (None, None), content
        (note,) = opened.notes
        assert told in note, content


def test_a_person_names_the_crs_where_that_of_the_file_cannot_be_used(tmp_path: Path) -> None:
    place = {"type": "Point", "coordinates": [500_000, 5_200_000]}
    opened = reader(tmp_path, collection(feature(place), crs=named("local grid")))
    (one,) = features(opened, crs="EPSG:25832")
    assert one.geometry is not None
    assert one.geometry["coordinates"] == pytest.approx([9, 46.95], abs=0.01)


def test_what_features_have_beside_their_properties_is_noted(tmp_path: Path) -> None:
    usual = {**feature(a=1), "id": 1, "bbox": [0, 0, 1, 1], "geometry_name": "geom"}
    others = {f"m{n}": n for n in range(6)}
    opened = reader(tmp_path, collection(usual, usual))
    assert len(features(opened)) == 2
    assert opened.notes == []
    opened = reader(tmp_path, collection({**usual, **others}, {**usual, "m": 1}))
    assert len(features(opened)) == 2
    assert opened.notes == [
        "What features have beside their properties was left out: "
        '"m0", "m1", "m2", "m3", "m4" and more.'
    ]
    walk = feature(name="Walk", coordTimes=["2026-05-12"] * 9, coordinateProperties={"times": []})
    opened = reader(tmp_path, collection(walk))
    assert features(opened)[0].properties == {"name": "Walk"}
    assert opened.notes == ["Times and other values of track points were left out."]


def test_a_value_that_is_too_large(tmp_path: Path) -> None:
    content = collection(feature(a=1), feature(many=["x" * 1000] * 1100))
    assert 'value of "many" in feature 2 is longer than 1 MiB' in refused(tmp_path, content)


def test_a_layer_with_too_many_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.formats.readers.layer_limits.POSITIONS", 10)
    assert reader(tmp_path, collection(*[feature(square())] * 2)).layers[0].features == 2
    assert "more than 10 positions" in refused(tmp_path, collection(*[feature(square())] * 3))
