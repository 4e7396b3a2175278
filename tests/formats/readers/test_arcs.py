"""Curves, which become straight lines."""

from __future__ import annotations

import struct
from contextlib import closing
from math import asin, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from app.formats.readers.arcs import ARCS_NOTE, straighten_arcs
from app.formats.readers.csv_file import CsvReader
from app.formats.readers.geometry_text import read_geometry_text
from app.formats.readers.geopackage import GeoPackageReader
from tests.formats.readers.geopackages import blob, with_geometry
from tests.formats.readers.reading import features

CIRCLE = "CIRCULARSTRING (0 0, 1 1, 2 0, 1 -1, 0 0)"


def shape(text: str) -> Any:
    found = read_geometry_text(text)
    assert found.has_arcs
    return shapely.geometry.shape(found.geometry)


def segment(height: float) -> float:
    """The area between an arc from (0, 0) to (2, 0) and its chord."""
    radius = (1 + height**2) / (2 * height)
    return radius**2 * asin(1 / radius) - sqrt(radius**2 - 1)


def test_areas_with_arcs_keep_their_size() -> None:
    for text, area in (
        (f"CURVEPOLYGON ({CIRCLE})", pi),
        ("CURVEPOLYGON (CIRCULARSTRING (0 0, 2 0, 0 0))", pi),  # a circle in one arc
        ("CURVEPOLYGON (CIRCULARSTRING Z (0 0 5, 1 -1 5, 2 0 5, 1 1 5, 0 0 5))", pi),
        ("CURVEPOLYGON (COMPOUNDCURVE (CIRCULARSTRING (0 0, 1 1, 2 0), (2 0, 0 0)))", pi / 2),
        (f"CURVEPOLYGON ((-9 -9, 9 -9, 9 9, -9 9, -9 -9), {CIRCLE})", 324 - pi),
        (f"MULTISURFACE (((20 0, 21 0, 21 1, 20 0)), CURVEPOLYGON ({CIRCLE}))", pi + 0.5),
        (f"GEOMETRYCOLLECTION (CURVEPOLYGON ({CIRCLE}), POINT (1 2))", pi),
    ):
        found = shape(text)
        assert found.is_valid, text
        assert found.area == pytest.approx(area, rel=1e-4), text


def test_a_flat_arc_keeps_its_area() -> None:
    for height in (0.5, 0.01, 1e-4):
        for at in (0, 4_500_000):
            curve = f"CIRCULARSTRING ({at} 0, {at + 1} {height}, {at + 2} 0)"
            found = shape(f"CURVEPOLYGON (COMPOUNDCURVE ({curve}, ({at + 2} 0, {at} 0)))")
            assert found.area == pytest.approx(segment(height), rel=1e-3), (height, at)


def test_given_positions_are_kept_and_the_others_lie_on_the_circle() -> None:
    for way in (1, -1):
        given = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, -1.0], [4.0, 0.0]])[::way]
        found = straighten_arcs(given)
        assert {*map(tuple, given)} <= {*map(tuple, found)}, way
        assert tuple(found[0]) == tuple(given[0]), way
        assert tuple(found[-1]) == tuple(given[-1]), way
        from_centers = np.minimum(*(np.hypot(*(found - center).T) for center in ((1, 0), (3, 0))))
        assert from_centers == pytest.approx(1.0), way


def test_an_arc_that_is_straight_is_a_line() -> None:
    for given in (
        [(0, 0), (1, 1), (2, 2)],
        [(0, 0), (0, 0), (2, 2)],
        [(1, 1), (1, 1), (1, 1)],
    ):
        assert straighten_arcs(np.array(given, dtype=float)).tolist() == [
            list(each) for each in given
        ], given


def test_a_geopackage_with_arcs_says_what_became_of_them(tmp_path: Path) -> None:
    arc = [(10, 47), (10.005, 47.005), (10.01, 47), (10.005, 46.995), (10, 47)]
    wkb = struct.pack("<BIIBII", 1, 10, 1, 1, 8, 5)
    wkb += b"".join(struct.pack("<dd", *each) for each in arc)
    with closing(GeoPackageReader(with_geometry(tmp_path, blob(wkb)))) as reader:
        (feature,) = features(reader)
        assert reader.notes == [ARCS_NOTE]
    area = shapely.geometry.shape(feature.geometry).area
    assert area == pytest.approx(pi * 0.005**2, rel=1e-4)


def test_a_csv_file_with_arcs_says_what_became_of_them(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'name,wkt\na,"CURVEPOLYGON ({CIRCLE})"\n')
    reader = CsvReader(path)
    (feature,) = features(reader)
    assert reader.notes == [ARCS_NOTE]
    assert feature.geometry is not None
    assert feature.geometry["type"] == "Polygon"
