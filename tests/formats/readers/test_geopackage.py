"""GeoPackages as GDAL writes them, and as nobody should."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from pyproj import CRS

from app.formats.features import FileInvalid, Layer
from app.formats.readers.geopackage import GeoPackageReader
from app.geometry import read_boundary
from app.policy.files import COLUMNS, LAYERS, VALUE_BYTES
from tests.formats.readers.gdal import AREAS, NAMES, write
from tests.formats.readers.geopackages import SQUARE, changed, one_square, saved
from tests.formats.readers.reading import features, refusal


def assert_same_areas(found: list[Any]) -> None:
    for one, area in zip(found, AREAS, strict=True):
        assert read_boundary(one.geometry).area_m2 == pytest.approx(area, rel=1e-6)


def test_layers_of_gdal(tmp_path: Path) -> None:
    path = saved(tmp_path, crs="EPSG:32610", columns={"name": NAMES, "n": range(24)})
    write(path, "GPKG", layer="plots", append=True, columns={"id": NAMES}, crs="EPSG:5070")
    with closing(GeoPackageReader(path)) as reader:
        assert reader.layers == (
            Layer("forests", 24, ("name", "n"), "EPSG:32610", 0),
            Layer("plots", 24, ("id",), "EPSG:5070", 4),
        )
        for _ in range(2):
            found = features(reader, "forests")
            assert [one.number for one in found] == list(range(1, 25))
            expected = [{"name": name, "n": n} for n, name in enumerate(NAMES)]
            assert [one.properties for one in found] == expected
            assert_same_areas(found)
        assert reader.notes == []
        assert_same_areas(features(reader, "plots"))
        assert "accurate to about 4 m" in reader.notes[0]


def test_a_file_that_does_not_say_its_system(tmp_path: Path) -> None:
    path = saved(tmp_path, crs="EPSG:32610")
    for number in (-1, 0, 123_456):
        changed(path, f"UPDATE gpkg_geometry_columns SET srs_id = {number}")
        with closing(GeoPackageReader(path)) as reader:
            assert (reader.layers[0].crs, reader.layers[0].accuracy) == (None, None)
            assert_same_areas(features(reader, crs="EPSG:32610"))
            with pytest.raises(FileInvalid, match="not a known"):
                features(reader, crs="http://127.0.0.1/")


def test_definitions(tmp_path: Path) -> None:
    for definition, code, crs in (
        (CRS.from_epsg(25832).to_wkt("WKT1_GDAL"), 25832, "EPSG:25832"),
        (CRS.from_epsg(25832).to_wkt("WKT1_GDAL"), 31467, "EPSG:25832"),
        ("undefined", 25832, "EPSG:25832"),
        ("http://127.0.0.1/crs", 25832, "EPSG:25832"),
        ("+proj=longlat +nadgrids=/etc/passwd", 25832, "EPSG:25832"),
        ("undefined", 999999, None),
        ("undefined", "http://127.0.0.1/", None),
    ):
        update = (
            "UPDATE gpkg_spatial_ref_sys SET definition = ?, organization = 'EPSG', "
            "organization_coordsys_id = ? WHERE srs_id = 4326"
        )
        path = one_square(tmp_path, (update, [definition, code]))
        with closing(GeoPackageReader(path)) as reader:
            assert reader.layers[0].crs == crs
            told = ["is not a known coordinate reference" in note for note in reader.notes]
            assert told == [True] * (crs is None)


def test_values(tmp_path: Path) -> None:
    columns = {
        "text": ["Föhre", None],
        "whole": [2**53 + 1, 7],
        "part": [0.1, float("nan")],
        "yes": np.array([True, False]),
        "day": np.array(["2024-02-29", "NaT"], dtype="datetime64[D]"),
        "at": np.array(["2024-02-29T12:30:00", "NaT"], dtype="datetime64[ms]"),
    }
    path = saved(tmp_path, shapes=[SQUARE, None], columns=columns)
    changed(path, "UPDATE forests SET whole = 9e999 WHERE fid = 2")
    with closing(GeoPackageReader(path)) as reader:
        first, second = features(reader)
    assert first.properties == {
        "text": "Föhre",
        "whole": 2**53 + 1,
        "part": 0.1,
        "yes": True,
        "day": "2024-02-29",
        "at": first.properties["at"],
    }
    assert first.properties["at"].startswith("2024-02-29T12:30:00")
    assert first.properties["yes"] is True
    assert second.geometry is None
    assert second.properties == {**dict.fromkeys(columns), "yes": False}


def test_columns(tmp_path: Path) -> None:
    path = one_square(
        tmp_path,
        "ALTER TABLE forests ADD COLUMN picture BLOB",
        "ALTER TABLE forests ADD COLUMN length AS (length(name))",
        "ALTER TABLE forests ADD COLUMN note TEXT",
        "UPDATE forests SET picture = x'00', note = x'00'",
    )
    with closing(GeoPackageReader(path)) as reader:
        assert reader.layers[0].columns == ("name", "note")
        assert features(reader)[0].properties == {"name": "a", "note": None}
        (one,) = reader.read_features(replace(reader.layers[0], columns=("name", "other")))
        assert one.properties == {"name": "a"}
        assert reader.notes == [
            "Columns with binary values, such as pictures, were left out.",
            "Columns that are computed when they are read were left out.",
        ]


def test_keys(tmp_path: Path) -> None:
    for definition, columns in (
        ("fid INTEGER PRIMARY KEY, geom POLYGON, fid_old INTEGER", ("fid_old",)),
        ("OGC_FID INTEGER PRIMARY KEY, geom POLYGON", ()),
        ("id INTEGER PRIMARY KEY, geom POLYGON", ("id",)),
        ("fid INTEGER, geom POLYGON", ("fid",)),
        ("code TEXT PRIMARY KEY, GEOM POLYGON) WITHOUT ROWID --", ("code",)),
    ):
        first = definition.split(maxsplit=1)[0]
        path = one_square(
            tmp_path,
            "ALTER TABLE forests RENAME TO old",
            f"CREATE TABLE forests({definition}\n)".replace("--\n)", ""),
            f"INSERT INTO forests({first}, geom) SELECT 5, geom FROM old",
            "UPDATE gpkg_contents SET table_name = 'Forests', identifier = 'f'",
            "UPDATE gpkg_geometry_columns SET table_name = 'FORESTS'",
        )
        with closing(GeoPackageReader(path)) as reader:
            assert [(one.name, one.columns) for one in reader.layers] == [("forests", columns)]
            (feature,) = features(reader)
        assert shapely.geometry.shape(feature.geometry) == SQUARE, definition


def test_layers_that_are_no_tables_are_told(tmp_path: Path) -> None:
    path = one_square(
        tmp_path,
        "CREATE VIEW seen AS SELECT * FROM forests",
        "CREATE TABLE bare(a)",
        "INSERT INTO gpkg_contents(table_name, data_type, identifier) VALUES "
        "('seen', 'features', 'x'), ('bare', 'features', 'y'), ('gone', 'features', 'z'), "
        "('list', 'attributes', 'w')",
        "INSERT INTO gpkg_geometry_columns VALUES ('seen', 'geom', 'POLYGON', 4326, 0, 0)",
        "INSERT INTO gpkg_geometry_columns VALUES ('bare', 'geom', 'POLYGON', 4326, 0, 0)",
    )
    with closing(GeoPackageReader(path)) as reader:
        assert [one.name for one in reader.layers] == ["forests"]
        told = ['The table "list" holds "attributes", not features']
        told += [f'The layer "{name}" is a view, or no table' for name in ("seen", "bare", "gone")]
        assert [note[: len(start)] for note, start in zip(reader.notes, told, strict=True)] == told


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    for statements, told in (
        (["DROP TABLE gpkg_contents"], "it has no table gpkg_contents"),
        (["DELETE FROM gpkg_contents"], "has no table of features"),
        (
            [
                "DROP TABLE gpkg_contents",
                "CREATE VIEW gpkg_contents AS SELECT 'forests', 'features'",
            ],
            "it has no table gpkg_contents",
        ),
        (
            ["DROP TABLE gpkg_geometry_columns", "CREATE TABLE gpkg_geometry_columns(a)"],
            "is damaged",
        ),
        (
            [
                "DROP TABLE forests",
                f"CREATE TABLE forests(geom, {', '.join(f'c{n}' for n in range(COLUMNS + 1))})",
            ],
            "more than 500 columns",
        ),
        (
            [f"UPDATE forests SET name = '{'x' * (VALUE_BYTES + 1)}'"],
            '"name" in feature 1 is longer',
        ),
        (["UPDATE forests SET geom = zeroblob(40000000)"], "larger than 32 MiB"),
        (
            [
                "INSERT INTO gpkg_contents(table_name, data_type, identifier) "
                f"VALUES ('t{n}', 'features', 't{n}')"
                for n in range(LAYERS)
            ],
            "more than 100 layers",
        ),
    ):
        assert told in refusal(GeoPackageReader, one_square(tmp_path, *statements)), statements


def test_a_layer_with_too_many_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, shapes=[SQUARE] * 3, columns={"n": range(3)})
    monkeypatch.setattr("app.formats.readers.layer_limits.POSITIONS", 14)
    assert "more than 14 positions" in refusal(GeoPackageReader, path)


def test_a_file_that_was_copied_while_in_use(tmp_path: Path) -> None:
    path = one_square(tmp_path, "PRAGMA journal_mode = WAL")
    with closing(GeoPackageReader(path)) as reader:
        assert "a program had it open" in reader.notes[0]
        assert len(features(reader)) == 1


@pytest.mark.slow
def test_damaged_bytes(tmp_path: Path) -> None:
    """No file makes it do anything but read features, or say that it cannot."""
    path = saved(tmp_path, columns={"name": NAMES, "n": range(24)})
    good = path.read_bytes()
    chosen = random.Random(5)
    outcomes = set()
    for _ in range(100):
        damaged = bytearray(good)
        for _ in range(chosen.randint(1, 40)):
            damaged[chosen.randrange(16, len(good))] = chosen.randrange(256)
        path.write_bytes(damaged)
        try:
            with closing(GeoPackageReader(path)) as reader:
                for layer in reader.layers:
                    outcomes |= {bool(one.problems) for one in reader.read_features(layer)}
        except FileInvalid:
            outcomes.add("FileInvalid")
    assert outcomes == {True, False, "FileInvalid"}
