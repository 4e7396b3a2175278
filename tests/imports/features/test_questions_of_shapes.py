"""The questions about the shapes of a layer, by tables of layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pytest

from app.formats.features import Layer, SourceFeature
from app.geometry.countries import has_world
from app.imports.features.mapping import ColumnMapping, LayerScan
from app.imports.features.reader_process import OpenedFile
from app.imports.questions import questions_of
from app.models import Import
from tests.make import point, square

Shape = dict[str, Any]
ALPS: Final = [(10.0, 47.0)]  # projects of the account


def line(*positions: list[float]) -> Shape:
    return {"type": "LineString", "coordinates": [*positions]}


CORNERS: Final = square(10, 47, 0.01)["coordinates"][0][:4]
WALK: Final = line(*CORNERS)
ROAD: Final = line([10, 47], [10.1, 47])
EIGHT: Final = line(CORNERS[0], CORNERS[2], CORNERS[1], CORNERS[3])

CROSSED: Final = line(*CORNERS, [10.0002, 46.9995], [10.001, 47.0005])


def asked(
    shapes: Iterable[Shape],
    *,
    crs: str | None = "EPSG:4326",
    near: Any = (),
    properties: dict[str, Any] | None = None,
    file_format: str = "geojson",
    **answers: Any,
) -> dict[str, Any]:
    """The questions about features with these shapes, by their codes."""
    scan = LayerScan()
    for number, shape in enumerate(shapes, start=1):
        scan.add(SourceFeature(number, shape, properties or {}))
    layer = Layer("layer", scan.features, (), crs)
    choices = Import(kind="projects", filename="layer", **answers)
    file, mapping = OpenedFile(file_format, (layer,)), ColumnMapping({})
    questions = questions_of(file, layer, scan, mapping, choices, near, asks_name=False)
    return {question["code"]: question for question in questions}


def puts(question: dict[str, Any]) -> list[dict[str, Any]]:
    return [option["put"] for option in question["options"]]


TO_ASSETS: Final = {"kind": "assets", "project_id": None}
LEAVE: Final = {"points_as_plots": False}
JOIN: Final = {"corners_by": ""}


def test_points_beside_lines(subtests: pytest.Subtests) -> None:
    two, three = ([point(n, 47) for n in range(number)] for number in (2, 3))
    for name, shapes, answers, says, options in (
        ("a path, two points", [ROAD, *two], {}, "has lines and points,", [TO_ASSETS, LEAVE]),
        ("three points", [WALK, *three], {}, "has lines and points,", [TO_ASSETS, JOIN, LEAVE]),
        ("points alone", three, {}, "has points,", [TO_ASSETS, JOIN]),
    ):
        with subtests.test(name):
            question = asked(shapes, **answers)["geometry_type"]
            assert says in question["message"]
            assert question["required"]
            assert puts(question) == options
    closed = asked([WALK, *two], close_lines=True)["geometry_type"]
    assert "has areas, which become projects, and points in 2 features" in closed["message"]
    assert not closed["required"]
    assert puts(closed)[:2] == [{"points": "assets", "project_id": None}, {"points": "assets"}]


def test_geometries_without_numbers_are_faults_and_no_question() -> None:
    for coordinates in ([[[None, 47], [10, 47]]], [["10", "47"]], 7):
        assert asked([{"type": "Polygon", "coordinates": coordinates}]) == {}, coordinates
    assert [*asked([{"type": "Polygon", "coordinates": []}])] == ["geometry"]


def test_lines_that_are_boundaries_once_they_are_closed(subtests: pytest.Subtests) -> None:
    part = {"type": "MultiLineString", "coordinates": [WALK["coordinates"]]}
    for name, shapes, says in (
        ("one side is missing", [WALK], "1 feature is a line around 84.5443 ha"),
        ("several", [WALK, ROAD, part], "2 features are lines around 169.0886 ha"),
        ("a road", [ROAD], None),
        ("it crosses itself", [EIGHT], None),
        ("at its end", [CROSSED], "1 feature is a line whose ends nearly meet, as of a walk"),
    ):
        with subtests.test(name):
            question = asked(shapes).get("open_lines")
            assert (question is None) == (says is None)
            if question and says:
                assert question["message"].startswith(says)
                assert puts(question) == [{"close_lines": True}]
                assert not question["required"]


def latitude_first(*places: tuple[float, float]) -> list[Shape]:
    """Squares as (latitude, longitude) of their corners, read as GeoJSON."""
    rings = [square(x, y, 0.01)["coordinates"][0] for y, x in places]
    return [{"type": "Polygon", "coordinates": [[[y, x] for x, y in ring]]} for ring in rings]


UGANDA: Final = [(1.0, 32.0), (1.2, 32.5), (0.5, 31.0)]


@pytest.mark.skipif(not has_world(), reason="the countries are not installed")
def test_what_is_swapped(subtests: pytest.Subtests) -> None:
    producer = {"ProducerCountry": "UG"}
    for name, shapes, columns, near, says in (
        ("it names Uganda", latitude_first(*UGANDA), producer, (), "Algeria, and the other way"),
        ("by its name", latitude_first(*UGANDA), {"country": "uganda"}, (), "names Uganda"),
        ("it names India", latitude_first((17.6, 80.5)), {"ProducerCountry": "IN"}, (), "India"),
        ("in no country", [point(27.73, 85.32)], {}, (), "in no country, and the other way round"),
        ("in Uganda, as it says", [square(32, 1, 0.01)], producer, (), None),
        ("as it says, far from projects", [square(47, 10, 0.01)], {"country": "SO"}, ALPS, None),
        ("a word that names none", latitude_first(*UGANDA), {"country": "home"}, (), None),
        ("in another country either way", latitude_first(*UGANDA), {"country": "DE"}, (), None),
        ("in the sea either way", [square(-30, -40, 0.01)], {}, (), None),
        ("it has longitudes beyond 90", [square(-120, 80, 0.01)], {"country": "CN"}, (), None),
    ):
        with subtests.test(name):
            question = asked(shapes, properties=columns, near=near).get("swapped")
            assert (question is None) == (says is None), question
            if question and says:
                assert says in question["message"]
                assert puts(question) == [{"swap": True}]


@pytest.mark.skipif(not has_world(), reason="the countries are not installed")
def test_systems_are_offered_without_projects() -> None:
    for x, y, first, number in (
        (405_000, 6_530_000, "EPSG:2154 · RGF93 v1 / Lambert-93 (France", 20),
        (2_600_000, 1_200_000, "EPSG:2056 · CH1903+ / LV95 (Liechtenstein; Switzerland)", 3),
        (-13_795_987, 5_787_846, "EPSG:3857 · WGS 84 / Pseudo-Mercator (maps on the web)", 1),
        (500_000, 5_200_000, "EPSG:32633 · WGS 84 / UTM zone 33N (Austria)", 20),
    ):
        near = [(80.0, -60.0)] if x < 0 else []  # in the sea, so no system puts anything there
        question = asked([point(x, y)], crs=None, near=near, file_format="shp")["crs"]
        labels = [option["label"] for option in question["options"]]
        assert first in labels[:7] or labels[0].startswith(first)
        assert len(labels) >= number
        assert all(option["bbox"] for option in question["options"])


def test_a_swap_that_does_not_help_is_not_offered() -> None:
    ring = [[10, 100], [10, 200], [11, 200], [10, 100]]
    questions = asked([{"type": "Polygon", "coordinates": [ring]}])
    assert [*questions] == ["crs"]
    assert questions["crs"]["message"].startswith("Positions such as (10, 100) cannot be degrees.")
    turned = [[190, 10], [191, 10], [191, 11], [190, 10]]  # a mistake that its problem explains
    assert asked([{"type": "Polygon", "coordinates": [turned]}]) == {}
