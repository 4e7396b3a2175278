"""Shapefiles in zip files: their layers, systems of coordinates, tables and shapes together."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import shapely
from pyproj import CRS

from app.formats.crs import read_crs
from app.formats.features import AS_IN_FILE, FileInvalid, Layer
from app.formats.readers import layer_systems
from app.formats.readers.shapefile import ShapefileReader
from app.geometry import read_boundary
from tests.formats.readers.gdal import AREAS, NAMES, SHAPES, write, zipped
from tests.formats.readers.reading import features, refusal
from tests.formats.readers.shapefiles import (
    SQUARE,
    dbf,
    packed,
    packed_as,
    parts,
    point,
    shp,
    shx,
)

NAME = (b"name", "C", 8, 0)


def table(*names: str) -> bytes:
    return dbf([NAME], *(f" {name:8}".encode() for name in names))


def saved(folder: Path, **options: Any) -> Path:
    """A folder with the districts as a shapefile of GDAL."""
    folder = folder / "saved"
    folder.mkdir(exist_ok=True)
    write(folder / "districts.shp", "ESRI Shapefile", **options)
    return folder


def read(path: Path, crs: str | None = None) -> tuple[Layer, list[Any], list[str]]:
    """The only layer, its features and the notes."""
    with closing(ShapefileReader(path)) as reader:
        (layer,) = reader.layers
        found = features(reader, crs=crs)
        assert len(found) == layer.features
        assert [one.number for one in found] == list(range(1, len(found) + 1))
        return layer, found, reader.notes


def assert_same_areas(found: list[Any]) -> None:
    for one, area in zip(found, AREAS, strict=True):
        assert read_boundary(one.geometry).area_m2 == pytest.approx(area, rel=1e-6)


@pytest.mark.parametrize(
    ("crs", "accuracy"),
    [("EPSG:4326", 0), ("EPSG:32610", 0), ("EPSG:3857", 0), ("EPSG:5070", 4), ("EPSG:2927", 1)],
)
def test_districts_of_gdal(tmp_path: Path, crs: str, accuracy: float) -> None:
    layer, found, notes = read(zipped(saved(tmp_path, crs=crs)))
    assert layer == Layer("districts", len(NAMES), ("name",), crs, accuracy, encoding="utf-8")
    assert [one.properties for one in found] == [{"name": name} for name in NAMES]
    assert_same_areas(found)
    assert len(notes) == (accuracy > 1)


def test_without_a_system_of_coordinates_it_is_the_caller_who_says(tmp_path: Path) -> None:
    folder = saved(tmp_path, crs="EPSG:32610")
    path = zipped(folder, ".prj")
    layer, found, _ = read(path, crs="EPSG:32610")
    assert (layer.crs, layer.accuracy) == (None, None)
    assert_same_areas(found)
    _, found, _ = read(path)
    assert found[0].geometry["coordinates"][0][0][0][0] > 180  # taken for degrees, as they are
    with pytest.raises(FileInvalid, match="is not a known"):
        read(path, crs="EPSG:999999")


def test_a_system_that_cannot_be_used(tmp_path: Path) -> None:
    for prj in (b"http://127.0.0.1/", b"\xff" * 100_000, b'PROJCS["RD",PROJECTION["Unknown"]]'):
        path = packed(tmp_path, shp=shp(point(155000, 463000)), prj=prj)
        layer, found, notes = read(path, crs="EPSG:28992")
        assert layer.crs is None
        assert notes[0].startswith('The coordinate system of "forest" cannot be used: ')
        assert found[0].geometry["coordinates"] == pytest.approx([5.387, 52.155], abs=0.01)


def test_a_system_that_is_not_known_is_looked_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, members = list[str](), dict[str, bytes]()
    find = layer_systems.read_crs
    monkeypatch.setattr(layer_systems, "read_crs", lambda text: asked.append(text) or find(text))
    for name in "ab":
        members |= {f"{name}.shp": shp(point(1, 1)), f"{name}.prj": b"EPSG:999999"}
    with closing(ShapefileReader(packed_as(tmp_path, members))) as reader:
        features(reader, "b")
        told = [f'The coordinate system of "{name}" cannot be used: ' for name in "ab"]
        assert [note[: len(told[0])] for note in reader.notes[:2]] == told
    assert asked.count("EPSG:999999") == 1


def test_what_a_person_says_wins_over_the_file(tmp_path: Path) -> None:
    prj = b"EPSG:4326\0\xcd"  # as programs in C write texts
    path = packed(tmp_path, shp=shp(point(155000, 463000)), prj=prj)
    layer, found, notes = read(path, crs="EPSG:28992")
    assert layer.crs == "EPSG:4326"
    assert notes[0] == "EPSG:28992 was used as you chose it, though the file says EPSG:4326."
    assert found[0].geometry["coordinates"] == pytest.approx([5.387, 52.155], abs=0.01)


def test_of_many_systems_only_the_first_are_looked_up_before_their_layer_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.formats.readers.layer_systems.LAYER_SYSTEMS", 1)
    own = CRS.from_dict({"proj": "tmerc", "lon_0": 6.25, "ellps": "GRS80"}).to_wkt("WKT1_ESRI")
    definitions = ("EPSG:32631", own.replace('"unknown', '"Oak\a'), "EPSG:32632", "EPSG:32631")
    members = {}
    for number, definition in enumerate(definitions):
        prj = definition.encode()
        members |= {f"{number}.shp": shp(point(500_000, 0)), f"{number}.prj": prj}
    members["none.shp"] = shp(point(500_000, 0))
    read_crs.cache_clear()
    with closing(ShapefileReader(packed_as(tmp_path, members))) as reader:
        names = [layer.crs for layer in reader.layers]
        assert names == ["EPSG:32631", "Oak?", "EPSG:32632", "EPSG:32631", None]
        for layer in reader.layers:
            (one,) = reader.read_features(layer, AS_IN_FILE)
            assert one.geometry == {"type": "Point", "coordinates": [500_000, 0]}
        assert read_crs.cache_info().misses == 2  # with that of degrees
        assert features(reader, 2)[0].geometry == {"type": "Point", "coordinates": [9, 0]}


def test_heights_and_measures_are_left_out(tmp_path: Path) -> None:
    high = [shapely.force_3d(shape, 250.0) for shape in SHAPES]
    _, found, notes = read(zipped(saved(tmp_path, shapes=high)))
    assert_same_areas(found)
    assert notes == ["Heights were left out."]
    _, (one,), notes = read(packed(tmp_path, shp=shp(parts(SQUARE, kind=25))))
    assert one.geometry == {"type": "Polygon", "coordinates": [[list(p) for p in SQUARE]]}
    assert notes[0] == "Measures were left out."


def test_lines_and_points_of_gdal(tmp_path: Path) -> None:
    line = shapely.LineString([(0, 0), (1, 2)])
    lines = shapely.MultiLineString([[(0, 0), (1, 2)], [(3, 3), (4, 5)]])
    points = shapely.MultiPoint([(1, 2), (3, 4)])
    for number, shapes in enumerate(([line, lines], [shapely.Point(1, 2), None], [points, points])):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, found, _ = read(zipped(saved(folder, shapes=shapes, columns={"n": [1, 2]})))
        there = [one.geometry and shapely.geometry.shape(one.geometry) for one in found]
        assert there == shapes


def test_a_layer_for_each_shapefile(tmp_path: Path) -> None:
    members = {
        "north/Oak.SHP": shp(point(1, 2)),
        "north/oak.DBF": table("a"),
        "north/oak.Prj": b"EPSG:4326",
        "south/Oak.shp": shp(point(3, 4), point(5, 6)),
        "Pine.shp": shp(point(7, 8)),
        "Pine.shp.xml": b"<metadata/>",
        "__MACOSX/._Pine.shp": b"x",
    }
    with closing(ShapefileReader(packed_as(tmp_path, members))) as reader:
        assert reader.layers == (
            Layer("north/Oak", 1, ("name",), "EPSG:4326", 0, encoding="cp1252"),
            Layer("south/Oak", 2, (), None, None),
            Layer("Pine", 1, (), None, None),
        )
        assert features(reader, "north/Oak")[0].properties == {"name": "a"}
        assert [one.geometry["coordinates"] for one in features(reader, 1)] == [[3, 4], [5, 6]]
        assert features(reader, "Pine")[0].properties == {}


def test_a_damaged_shape_is_a_problem_of_its_feature(tmp_path: Path) -> None:
    content = shp(parts(SQUARE)[:-8], point(1, 2))
    _, (damaged, good), _ = read(packed(tmp_path, shp=content, dbf=table("a", "b")))
    assert (damaged.geometry, damaged.properties) == (None, {"name": "a"})
    assert [problem.code for problem in damaged.problems] == ["unreadable"]
    assert good.problems == ()


def test_deleted_records_are_left_out(tmp_path: Path) -> None:
    records = dbf([NAME], b" a       ", b"*b       ", b" c       ")
    content = shp(point(1, 1), point(2, 2), point(3, 3))
    layer, found, notes = read(packed(tmp_path, shp=content, dbf=records))
    assert layer.features == 2
    assert [one.properties["name"] for one in found] == ["a", "c"]
    assert [one.geometry["coordinates"][0] for one in found] == [1, 3]
    assert notes == ["1 features that are marked as deleted were left out."]


def test_columns_of_unsupported_types_are_named(tmp_path: Path) -> None:
    records = dbf([NAME, (b"photo", "G", 10, 0)], b" a       0000000001")
    layer, (one,), notes = read(packed(tmp_path, shp=shp(point(1, 1)), dbf=records))
    assert (layer.columns, one.properties) == (("name",), {"name": "a"})
    assert notes == ['Skipped columns of unsupported types: "photo".']


def test_a_table_with_fewer_records_than_shapes(tmp_path: Path) -> None:
    content = shp(point(1, 1), point(2, 2))
    _, (first, second), notes = read(packed(tmp_path, shp=content, dbf=table("a")))
    assert (first.properties, first.problems) == ({"name": "a"}, ())
    assert "no record for this shape" in second.problems[0].message
    assert "has 1 records for 2 shapes" in notes[0]


def test_shapes_in_the_order_of_the_index(tmp_path: Path) -> None:
    old, second, new = (point(n, n) for n in (1, 2, 3))
    content = shp(old, second) + shp(new, first=1)[100:]  # as GDAL updates a shape
    path = packed(tmp_path, shp=content, shx=shx(156, 128), dbf=table("a", "b"))
    _, found, notes = read(path)
    assert [one.geometry["coordinates"][0] for one in found] == [3, 2]
    assert notes == []


def test_an_index_that_lies(tmp_path: Path) -> None:
    for index in (
        b"",
        b"x" * 200,
        shx(100, 104),
        shx(128, 100),
        shx(100, 2**31),
        shx(0, 128),
        shx(1),
    ):
        content = shp(point(1, 1), point(2, 2))
        _, found, notes = read(packed(tmp_path, shp=content, shx=index, dbf=table("a", "b")))
        assert [one.geometry["coordinates"][0] for one in found] == [1, 2], index
        assert "The index (.shx) does not fit the shapes" in notes[0], index


def test_encodings(tmp_path: Path) -> None:
    for texts, code_page, language, is_guessed in (
        (["Föhre", "Eiche"], b"UTF-8", 0, False),
        (["Föhre"], b"utf8\r\n", 0x57, False),
        (["Föhre"], b"", 0, True),
        (["Föhre"], b"1252", 0, True),
        ([b"F\xf6hre"], b"", 0, True),
        ([b"F\xf6hre"], b"UTF-8", 0, True),
        ([b"F\xf6hre"], b"88591", 0, False),
        ([b"F\xf6hre"], b"ANSI 1252", 0, False),
        ([b"F\x94hre"], b"", 2, False),
        ([b"F\x94hre"], b"LDID/1", 0, False),
        (["Föhre"], b"no such encoding", 0, True),
        (["Föhre"], b"zlib", 0, True),
        ([b"Eiche"], b"", 0, False),
    ):
        records = [text.encode() if isinstance(text, str) else text for text in texts]
        content = dbf([NAME], *(b" " + text.ljust(8) for text in records), language=language)
        members = {"shp": shp(*[point(1, 1)] * len(texts)), "dbf": content}
        if code_page:
            members["cpg"] = code_page
        layer, found, _ = read(packed(tmp_path, **members))
        assert found[0].properties["name"] in ("Föhre", "Eiche"), texts
        assert layer.is_guessed == is_guessed, texts


def test_columns_that_nobody_needs_are_left_out(tmp_path: Path) -> None:
    content = dbf([NAME, (b"size", "N", 2, 0)], b" a        7")
    with closing(ShapefileReader(packed(tmp_path, shp=shp(point(1, 1)), dbf=content))) as reader:
        layer = replace(reader.layers[0], columns=("size", "other"))
        assert [one.properties for one in reader.read_features(layer)] == [{"size": 7}]


def test_latin_1_of_gdal(tmp_path: Path) -> None:
    names = ["Föhrenwäldli", "Forêt"] * 12
    for without in ((), (".cpg",)):
        folder = saved(tmp_path, columns={"näme": names}, encoding="ISO-8859-1")
        _, found, _ = read(zipped(folder, *without))
        assert [one.properties for one in found] == [{"näme": name} for name in names]


def test_a_zip_file_that_cannot_be_used(tmp_path: Path) -> None:
    for members, told in (
        ({"readme.txt": b"x"}, "has no shapefile"),
        ({"forest.dbf": table("a")}, "has no shapefile"),
        ({"a.shp": b""}, '"a.shp" is not a shapefile'),
        ({"a.shp": b"x" * 200}, '"a.shp" is not a shapefile'),
        ({"a.shp": shp(point(1, 1), point(2, 2))[:-1]}, "incomplete after 1 shapes"),
        ({"a.shp": shp(point(1, 1)), "a.dbf": b"x"}, 'The table "a.dbf" is incomplete'),
        ({"a.shp": shp(point(1, 1)), "a.dbf": table("a", "b")[:-6]}, "is incomplete"),
    ):
        assert told in refusal(ShapefileReader, packed_as(tmp_path, members)), members


def test_a_layer_with_too_many_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.formats.readers.layer_limits.POSITIONS", 10)
    assert len(read(packed(tmp_path, shp=shp(*[parts(SQUARE)] * 2)))[1]) == 2
    told = refusal(ShapefileReader, packed(tmp_path, shp=shp(*[parts(SQUARE)] * 3)))
    assert "more than 10 positions" in told


def test_without_a_table(tmp_path: Path) -> None:
    layer, (one,), notes = read(packed(tmp_path, shp=shp(point(1, 2))))
    assert (layer.columns, one.properties) == ((), {})
    assert "There is no table (.dbf)" in notes[0]
