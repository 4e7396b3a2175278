"""Geometries in GeoPackages: their headers, kinds, and what is wrong with them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import shapely

from app.formats.readers.geopackage import GeoPackageReader
from tests.formats.readers.geopackages import SQUARE, blob, with_geometry
from tests.formats.readers.reading import features, only_feature


def test_heights_and_measures(tmp_path: Path) -> None:
    for shape in (
        shapely.force_3d(SQUARE, 250.0),
        shapely.from_wkt("POLYGON M ((1 2 9, 3 2 9, 3 4 9, 1 2 9))"),
    ):
        with closing(GeoPackageReader(with_geometry(tmp_path, blob(shape.wkb)))) as reader:
            (feature,) = features(reader)
            assert shapely.geometry.shape(feature.geometry) == shapely.force_2d(shape)
            assert reader.notes == ["Heights and measures were left out."]


def test_headers(tmp_path: Path) -> None:
    for order in (0, 1):
        cases_1: list[tuple[int, int]] = [(0, 0), (1, 32), (2, 48), (3, 48), (4, 64)]
        for kind, size in cases_1:
            value = blob(SQUARE.wkb, flags=kind << 1 | order, envelope=size)
            feature = only_feature(GeoPackageReader, with_geometry(tmp_path, value))
            assert shapely.geometry.shape(feature.geometry) == SQUARE, (order, kind)


def test_empty_geometries(tmp_path: Path) -> None:
    for value in (
        None,
        blob(b"", flags=0x11),
        blob(shapely.Polygon().wkb),
        blob(shapely.Point().wkb),
    ):
        feature = only_feature(GeoPackageReader, with_geometry(tmp_path, value))
        assert (feature.geometry, feature.problems) == (None, ()), value


def test_geometries_that_cannot_be_read(tmp_path: Path) -> None:
    for value, code in (
        (b"", "unreadable"),
        (b"GP\0\1", "unreadable"),
        ("POINT (1 2)", "unreadable"),
        (7, "unreadable"),
        (SQUARE.wkb, "unreadable"),
        (blob(SQUARE.wkb, magic=b"gp"), "unreadable"),
        (blob(SQUARE.wkb, flags=0x0B), "unreadable"),
        (blob(SQUARE.wkb, flags=0x0F), "unreadable"),
        (blob(SQUARE.wkb, flags=0x21), "wrong_type"),
        (blob(SQUARE.wkb, flags=0x03), "wrong_type"),  # no bounding box where one is announced
        (blob(SQUARE.wkb[:-1]), "unreadable"),
        (blob(b""), "unreadable"),
        (blob(shapely.box(1, 2, float("inf"), 4).wkb), "not_a_number"),
    ):
        feature = only_feature(GeoPackageReader, with_geometry(tmp_path, value))
        assert feature.geometry is None, value
        assert [problem.code for problem in feature.problems] == [code], value
        assert feature.properties == {"name": "a"}, value
