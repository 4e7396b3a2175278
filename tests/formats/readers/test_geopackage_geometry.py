"""Geometries in GeoPackages: their headers, kinds, and what is wrong with them."""

from __future__ import annotations

import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from app.formats.readers.geopackage import GeoPackageReader
from app.policy.request_limits import GEOMETRY_POSITIONS
from tests.formats.readers.geopackages import SQUARE, blob, with_geometry
from tests.formats.readers.reading import features, only_feature


def test_heights_and_measures(tmp_path: Path) -> None:
    for shape in (
        shapely.force_3d(SQUARE, 250.0),
        shapely.from_wkt("POLYGON M ((1 2 9, 3 2 9, 3 4 9, 1 2 9))"),
        shapely.from_wkt("POLYGON ZM ((1 2 9 8, 3 2 9 8, 3 4 9 8, 1 2 9 8))"),
    ):
        cases_1: list[tuple[Any, int]] = [("iso", 1), ("extended", 0)]
        for flavor, order in cases_1:
            wkb = shapely.to_wkb(shape, output_dimension=4, flavor=flavor, byte_order=order)
            with closing(GeoPackageReader(with_geometry(tmp_path, blob(wkb)))) as reader:
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
        (blob(b"\1" + struct.pack("<I", 8)), "unreadable"),  # CircularString
        (blob(b"\1" + struct.pack("<I", 10)), "unreadable"),  # CurvePolygon
        (blob(b"\1" + struct.pack("<II", 8, 3) + bytes(40)), "unreadable"),  # 2.5 positions
        (blob(b"\1" + struct.pack("<I", 16)), "wrong_type"),  # TIN
        (blob(b"\1" + struct.pack("<I", 7) + b"\1\0\0\0" * 10_000), "wrong_type"),
        (blob(b"\1" + struct.pack("<II", 3, 2**32 - 1)), "unreadable"),
        (blob(b"\1" + struct.pack("<III", 3, 1, 2**32 - 1)), "too_many_positions"),
        (blob(shapely.box(1, 2, float("inf"), 4).wkb), "not_a_number"),
    ):
        feature = only_feature(GeoPackageReader, with_geometry(tmp_path, value))
        assert feature.geometry is None, value
        assert [problem.code for problem in feature.problems] == [code], value
        assert feature.properties == {"name": "a"}, value


def test_a_geometry_of_too_many_positions_cannot_be_read(tmp_path: Path) -> None:
    many = shapely.MultiPoint(np.zeros((GEOMETRY_POSITIONS + 1, 2)))
    feature = only_feature(GeoPackageReader, with_geometry(tmp_path, blob(many.wkb)))
    assert [problem.code for problem in feature.problems] == ["too_many_positions"]
