"""Plots of many producers, as a cooperative has them, and faults planted on some of them.

    made = make_plots(seed)                    # 10,000 plots, 400 producers, three countries
    ids = fill(client.app, client.account_id, made)
    found = [("problem", each["name"], each["code"]) for each in report["problems"]] + ...
    assert differences(made, found, holes="split", points=True) == []

Plots with an area are projects; those kept as points are assets of type ``plot``, each in the
project of its producer that has no boundary, ``"<producer> (points)"``. The name of each project
and asset is unique. Each plot, or pair of plots, is in a cell of its own, a hundredth of a degree:
what is drawn there stays within 480 m of its middle. One seed makes the same plots always.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from flask import Flask
from pyproj import Geod
from sqlalchemy import update

from app.assets import derived as of_assets
from app.db.extensions import db
from app.db.transactions import insert_rows, transaction
from app.geometry import read_boundary, read_point
from app.models import AccountUsage, Asset, Project
from app.projects import derived as of_projects
from app.values import clock
from app.values.ids import new_id
from app.values.strict_json import dumps
from app.values.text import slugify

# West, south, east, north: land of one country, away from lakes. In Ecuador, the equator goes
# through the middle of cells: truncation changes its direction there.
_REGIONS: Final = {
    "GH": (-2.4, 5.8, -1.5, 7.2),
    "CI": (-6.4, 5.6, -5.6, 6.6),
    "EC": (-79.6, -0.905, -79.1, 0.295),
}
_SHARES: Final = {"GH": 0.5, "CI": 0.3, "EC": 0.2}
_POINTS, _MULTIPOLYGONS, _WITHOUT_AREA = 0.25, 0.05, 0.1  # shares of plots
_DECIMALS: Final = (6, 6, 6, 7, 8, 15)  # of which plots have one by chance
_CELL: Final = 0.01  # degrees
_GEOD: Final = Geod(ellps="WGS84")
_METERS: Final = 111_320.0  # of a degree at the equator
_MICRO: Final = 1e6

Position = tuple[float, float]
Geometry = dict[str, Any]
Producer = tuple[str, str]  # name and country


@dataclass
class Plot:
    """A project with a boundary, or an asset of type ``plot`` of the project named ``holder``.

    ``metadata`` is as it is sent; ``geometry`` a Polygon, MultiPolygon or Point, or None.
    """

    name: str
    metadata: dict[str, Any]
    geometry: Geometry | None
    holder: str | None = None

    @property
    def hectares(self) -> float:
        """The geodesic area, of polygons."""
        assert self.geometry is not None
        coordinates = self.geometry["coordinates"]
        parts = [coordinates] if self.geometry["type"] == "Polygon" else coordinates
        return sum(_hectares(part[0]) - sum(map(_hectares, part[1:])) for part in parts)


def _hectares(ring: list[list[float]]) -> float:
    longitudes, latitudes = zip(*ring, strict=True)
    return abs(_GEOD.polygon_area_perimeter(longitudes, latitudes)[0]) / 10_000


class Planted(NamedTuple):
    """What the report must find on one plot or pair of plots.

    Args:
        code: of the report, or "" for what looks like a fault and is none.
        kind: which of the faults with this code.
        names: of the plot, or of two that overlap: one of them or both are reported.
        is_problem: a problem, else a warning.
        holes: only with this value of the parameter; None: with any.
        points: only where the plots kept as points are in the file.
    """

    code: str
    kind: str
    names: tuple[str, ...]
    is_problem: bool = True
    holes: str | None = None
    points: bool = False

    @property
    def severity(self) -> str:
        """ "problem" or "warning"."""
        return "problem" if self.is_problem else "warning"


@dataclass
class Plots:
    """All plots, in an order without meaning, and the names of the holders of assets."""

    plots: list[Plot]
    planted: list[Planted] = field(default_factory=list)
    holders: set[str] = field(default_factory=set)

    def plot(self, name: str) -> Plot:
        """The plot of this name."""
        return next(plot for plot in self.plots if plot.name == name)


def make_plots(seed: int, *, plots: int = 10_000, producers: int = 400, each: int = 12) -> Plots:
    """Plots of so many producers.

    Args:
        each: how many plots, or pairs of plots, get each kind of fault; 0: none.
    """
    maker = _Maker(seed, plots, producers)
    planted = [plant for kind in KINDS for plant in kind.plant(maker, each)]
    while len(maker.plots) < plots:
        maker.add_any()
    maker.rng.shuffle(maker.plots)
    return Plots(maker.plots[:plots], planted, maker.holders)


def differences(
    made: Plots,
    found: Iterable[tuple[str, str | None, str]],
    *,
    holes: str = "split",
    points: bool = True,
) -> list[str]:
    """What a report lacks and what it has too much, each as a line; [] where it is right.

    Args:
        found: ``("problem" or "warning", name, code)``; those without a name are left out, as they
            are about the file.
        holes, points: with which the report was asked for.
    """
    due: dict[tuple[str, str, str], Planted] = {}
    missing = set()
    for plant in made.planted:
        if plant.code and plant.holes in (None, holes) and (points or not plant.points):
            missing.add(plant)
            for name in plant.names:
                due[plant.severity, name, plant.code] = plant
    lines = []
    for severity, name, code in found:
        if name is None:
            continue
        plant = due.get((severity, name, code))
        if plant is None:
            lines.append(f"too much: {severity} {code} of {name}")
        missing.discard(plant)  # type: ignore[arg-type]
    return lines + sorted(
        f"missing: {plant.severity} {plant.code} ({plant.kind}) of {' and '.join(plant.names)}"
        for plant in missing
    )


class _Cell(NamedTuple):
    """The middle of a cell."""

    longitude: float
    latitude: float

    def position(self, east: float, north: float, decimals: int = 6) -> list[float]:
        """The position so many meters from the middle."""
        longitude = self.longitude + east / (_METERS * math.cos(math.radians(self.latitude)))
        return [round(longitude, decimals), round(self.latitude + north / _METERS, decimals)]


def _cells(country: str) -> list[_Cell]:
    west, south, east, north = _REGIONS[country]
    return [
        _Cell(round(west + (x + 0.5) * _CELL, 3), round(south + (y + 0.5) * _CELL, 3))
        for x in range(round((east - west) / _CELL))
        for y in range(round((north - south) / _CELL))
    ]


class _Maker:
    """Makes plots, each in a cell of its own."""

    def __init__(self, seed: int, plots: int, producers: int) -> None:
        self.rng = random.Random(seed)
        self.plots: list[Plot] = []
        self.holders: set[str] = set()
        self._cells = {country: _cells(country) for country in _SHARES}
        for cells in self._cells.values():
            self.rng.shuffle(cells)
        self.producers: list[Producer] = [
            (f"Élodie N’Guessan {number + 1:03}", country)  # the names of each country are the same
            for country, share in _SHARES.items()
            for number in range(round(producers * share))
        ]
        self.rng.shuffle(self.producers)
        self._owners = iter([*self.producers, *self.rng.choices(self.producers, k=plots)])

    def owner(self, *, is_lossy: bool = False) -> tuple[Producer, _Cell]:
        """The producer of the next plot, and where it is: each has one first.

        Args:
            is_lossy: where truncation in binary floating point loses a millionth.
        """
        producer = next(self._owners)
        cells = self._cells["GH" if is_lossy else producer[1]]
        if not is_lossy:
            return producer, cells.pop()
        cell = cells.pop(next(i for i, cell in enumerate(cells) if _is_lossy(cell.longitude)))
        return (producer[0], "GH"), cell

    def add_any(self) -> Plot:
        """A plot without a fault, of any kind."""
        chance = self.rng.random()
        if chance < _POINTS:
            return self.add_point()
        return self.add(_multipolygon if chance < _POINTS + _MULTIPOLYGONS else _polygon)

    def add(self, draw: _Draw) -> Plot:
        """A project without a fault, with this boundary."""
        producer, cell = self.owner()
        return self.add_drawn(producer, draw(self.rng, cell))

    def add_drawn(self, producer: Producer, geometry: Geometry) -> Plot:
        plot = self._plot(producer, geometry)
        if self.rng.random() > _WITHOUT_AREA:
            plot.metadata["Area"] = round(plot.hectares, 4)
        return plot

    def add_point(self) -> Plot:
        """An asset without a fault."""
        producer, cell = self.owner()
        return self.add_point_at(producer, cell, *(self.rng.uniform(-400, 400) for _ in range(2)))

    def add_point_at(self, producer: Producer, cell: _Cell, east: float, north: float) -> Plot:
        position = cell.position(east, north, self.rng.choice(_DECIMALS))
        plot = self._plot(producer, {"type": "Point", "coordinates": position})
        plot.holder = f"{producer[0]} {producer[1]} (points)"
        self.holders.add(plot.holder)
        if self.rng.random() > _WITHOUT_AREA:
            plot.metadata["Area"] = round(0.05 * 80 ** self.rng.random(), 2)  # 0.05 to 4
        return plot

    def _plot(self, producer: Producer, geometry: Geometry) -> Plot:
        place = f"Guibéroua {len(self.plots) + 1:05}"
        keys = ("ProducerName", "ProducerCountry", "ProductionPlace")
        metadata: dict[str, Any] = dict(zip(keys, (*producer, place), strict=True))
        self.plots.append(Plot(place, metadata, geometry))
        return self.plots[-1]


# Outlines

_Draw = Callable[[random.Random, _Cell], Geometry]


def _star(
    rng: random.Random, cell: _Cell, area: float, corners: int, off: Position = (0.0, 0.0)
) -> list[list[float]]:
    """An irregular ring of about so many hectares, around a point so many meters from the middle of
    the cell."""
    turn, step = rng.uniform(0, math.tau), math.tau / corners
    angles = [turn + step * (number + rng.uniform(-0.3, 0.3)) for number in range(corners)]
    radii = [rng.uniform(0.55, 1.0) for _ in angles]
    doubled = sum(
        radii[i - 1] * radii[i] * math.sin(angles[i] - angles[i - 1]) for i in range(1, corners)
    ) + radii[-1] * radii[0] * math.sin(angles[0] + math.tau - angles[-1])
    size = math.sqrt(area * 20_000 / doubled)
    decimals = rng.choice(_DECIMALS)
    ring = [
        cell.position(off[0] + size * r * math.cos(a), off[1] + size * r * math.sin(a), decimals)
        for a, r in zip(angles, radii, strict=True)
    ]
    return [*ring, ring[0]]


def _polygon(rng: random.Random, cell: _Cell) -> Geometry:
    """4 to 40 corners and 0.2 to 20 ha, small ones more often."""
    area, off = 0.2 * 100 ** rng.random(), (rng.uniform(-40, 40), rng.uniform(-40, 40))
    return {"type": "Polygon", "coordinates": [_star(rng, cell, area, rng.randint(4, 40), off)]}


def _multipolygon(rng: random.Random, cell: _Cell) -> Geometry:
    """Two or three parts, each of 0.1 to 2 ha."""
    places = ((-250.0, -200.0), (250.0, -200.0), (0.0, 250.0))[: rng.randint(2, 3)]
    parts = [[_star(rng, cell, 0.1 * 20 ** rng.random(), 12, place)] for place in places]
    return {"type": "MultiPolygon", "coordinates": parts}


def _with_hole(rng: random.Random, cell: _Cell) -> Geometry:
    area = rng.uniform(5, 15)
    rings = [_star(rng, cell, area, rng.randint(8, 30)), _star(rng, cell, area / 200, 6)]
    return {"type": "Polygon", "coordinates": rings}


def _rectangle(cell: _Cell, west: float, south: float, east: float, north: float) -> Geometry:
    """By meters from the middle of a cell."""
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return {"type": "Polygon", "coordinates": [[cell.position(x, y) for x, y in corners]]}


# Outlines that are valid, and break at six decimals, by what becomes of them: in millionths of a
# degree from a corner of whole millionths, away from the equator and Greenwich, with a number from
# 620 to 780. All fractions are below a half, so that truncating and rounding are the same.
_BREAKING: Final[dict[str, Callable[[int], list[Position]]]] = {
    "the tip of a notch touches": lambda tip: [
        (0, 0.1), (2000, 0.1), (2000, 2000.1), (tip, 0.4), (0, 2000.1),
    ],
    "two corners touch": lambda waist: [
        (0, 0), (waist, 900.1), (2000, 0), (2000, 2000), (waist, 900.4), (0, 2000),
    ],
    "the bottom of a notch overlaps": lambda east: [
        (0, 0.1), (2000, 0.1), (2000, 2000.1), (east + 800, 0.4), (500, 0.4), (0, 2000.1),
    ],
    "the tip of a notch crosses": lambda tip: [
        (0, 1500.45), (0, 0), (tip, 1501.05), (1000, 0), (1000, 1501.45),
    ],
    "a strip becomes a line": lambda half: [
        (0, 0.1), (2 * half, 0.1), (2 * half, 0.3), (half, 0.45), (0, 0.3),
    ],
}  # fmt: skip
_NEAR: Final = [(0.0, 0.0), (2000.1, 0.1), (2000.3, 0.3), (2000.0, 2000.0), (0.0, 2000.0)]


def _from_corner(cell: _Cell, offsets: Sequence[Position]) -> Geometry:
    """A Polygon of positions by millionths of a degree from the corner nearest to 0° 0° of what is
    drawn in a cell, away from there."""
    x_sign, y_sign = (1 if value > 0 else -1 for value in cell)
    longitude, latitude = _corner(cell)
    ring = [
        [round(x_sign * (longitude + x) / _MICRO, 9), round(y_sign * (latitude + y) / _MICRO, 9)]
        for x, y in offsets
    ]
    return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}


def _corner(cell: _Cell) -> list[int]:
    return [max(round(abs(value) * _MICRO) - 1000, 0) for value in cell]


def _binary_touching(maker: _Maker, index: int) -> list[Plot]:
    """Six decimals, with which it is valid. Truncated in binary floating point, the tip of a notch
    loses a millionth of a degree, and the opposite side does not."""
    producer, cell = maker.owner(is_lossy=True)
    west = _corner(cell)[0]
    tip = next(
        number
        for number in range(west + maker.rng.randint(100, 500), west + 2000)
        if math.trunc(number / _MICRO * _MICRO) == number - 1
        and math.trunc((number - 1) / _MICRO * _MICRO) == number - 1
    )
    base = tip - 1 - west
    ring = [(base, 0), (base, 2000), (base + 2000, 2000), (base + 1, 900), (base + 2000, 0)]
    return [maker.add_drawn(producer, _from_corner(cell, ring))]


def _is_lossy(middle: float) -> bool:
    """True if many numbers of a cell lose a millionth when ``trunc(x * 1e6)`` truncates them. These
    are above a power of two, by less than a twentieth: their spacing grows there, and that of their
    millionfold does not yet."""
    return 2.0 < abs(middle) - _CELL / 2 < 1.03 * 2.0


# Faults

_Make = Callable[[_Maker, int], list[Plot]]  # a plot or a pair: with its number among its kind


class Kind(NamedTuple):
    """A way in which a plot can have the fault ``code``; "": something that is none."""

    code: str
    name: str
    make: _Make
    is_problem: bool = True
    holes: str | None = None

    def plant(self, maker: _Maker, number: int) -> Iterable[Planted]:
        """Make so many plots of the kind."""
        for index in range(number):
            plots = self.make(maker, index)
            points = any(plot.holder is not None for plot in plots)
            names = tuple(plot.name for plot in plots)
            yield Planted(self.code, self.name, names, self.is_problem, self.holes, points)


def _values(key: str, *values: Any, of: str = "any") -> _Make:
    """Plots with these values of a key, one after another; None leaves the key out, and a function
    makes the value from the plot.

    Args:
        of: ``polygons``, ``points``, or ``any``, by turns.
    """

    def make(maker: _Maker, index: int) -> list[Plot]:
        is_point = of == "points" or (of == "any" and index % 3 == 2)
        plot = maker.add_point() if is_point else maker.add(_polygon)
        value = values[index % len(values)]
        value = value(plot) if callable(value) else value
        plot.metadata.pop(key, None)
        if value is not None:
            plot.metadata[key] = value
        return [plot]

    return make


def _shape(draw: _Draw) -> _Make:
    """Plots of this shape, without ``Area``."""

    def make(maker: _Maker, index: int) -> list[Plot]:
        plot = maker.add(draw)
        plot.metadata.pop("Area", None)
        return [plot]

    return make


def _breaking(ring: Callable[[int], list[Position]]) -> _Make:
    return _shape(lambda rng, cell: _from_corner(cell, ring(rng.randint(620, 780))))


def _without_place(maker: _Maker, index: int) -> list[Plot]:
    plot = maker.add_point() if index % 2 else maker.add(_polygon)
    plot.geometry = None
    return [plot]


def _times(factor: float) -> Callable[[Plot], float]:
    return lambda plot: round(plot.hectares * factor, 4)


def _rectangles(first: tuple[float, ...], *second: tuple[float, ...]) -> _Make:
    """Pairs of plots in one cell, of one producer or two; meters from its middle: west, south,
    east, north. The other one may have several parts."""

    def make(maker: _Maker, index: int) -> list[Plot]:
        producer, cell = maker.owner()
        others = [each for each in maker.producers if each[1] == producer[1]]
        other = producer if index % 2 else maker.rng.choice(others)
        parts = [_rectangle(cell, *box)["coordinates"] for box in second]
        several = {"type": "MultiPolygon", "coordinates": parts}
        single = {"type": "Polygon", "coordinates": parts[0]}
        return [
            maker.add_drawn(producer, _rectangle(cell, *first)),
            maker.add_drawn(other, several if len(parts) > 1 else single),
        ]

    return make


def _point_in_polygon(maker: _Maker, index: int) -> list[Plot]:
    producer, cell = maker.owner()
    around = maker.add_drawn(producer, _rectangle(cell, -150, -150, 150, 150))
    return [around, maker.add_point_at(producer, cell, 50, -20)]


def _same_points(maker: _Maker, index: int) -> list[Plot]:
    producer, cell = maker.owner()
    first, second = (maker.add_point_at(producer, cell, 0, 0) for _ in range(2))
    second.geometry = first.geometry
    return [first, second]


def _lower(plot: Plot) -> str:
    return str(plot.metadata["ProducerCountry"]).lower()


_WARNINGS: Final = (
    ("country_differs", "of the place", _values("ProducerCountry", "DE", "br")),
    ("producer_missing", "no name", _values("ProducerName", None, "", "  ")),
    ("area_differs", "a little", _values("Area", _times(1.054), _times(0.946), of="polygons")),
    ("area_differs", "much", _values("Area", _times(2), _times(0.4), of="polygons")),
    ("area_text", "of a polygon",
     _values("Area", lambda plot: str(round(plot.hectares, 3)), of="polygons")),
    ("area_text", "of a point", _values("Area", "3", "0.75", of="points")),
    ("overlap", "a tenth", _rectangles((-200, -100, 20, 100), (0, -100, 200, 100))),
    ("overlap", "one within another", _rectangles((-200, -200, 200, 200), (-50, -50, 50, 50))),
    ("overlap", "the same outline", _rectangles((-100, -90, 100, 90), (-100, -90, 100, 90))),
    ("overlap", "part of a MultiPolygon",
     _rectangles((200, 0, 400, 200), (-300, -100, -100, 100), (100, -100, 300, 100))),
    ("overlap", "point in a polygon", _point_in_polygon),
    ("overlap", "points at the same place", _same_points),
    ("place_missing", "", _values("ProductionPlace", None, "")),
)  # fmt: skip
KINDS: Final = (
    Kind("country_invalid", "no code", _values("ProducerCountry", "UK", "XX", "EL")),
    Kind("country_missing", "no country", _values("ProducerCountry", None, "")),
    Kind("no_place", "", _without_place),
    Kind("area_invalid", "of a polygon", _values("Area", 0, -5, -0.25, of="polygons")),
    Kind("area_invalid", "of a point", _values("Area", 0, -5, 0.00009, of="points")),
    Kind("point_over_4_ha", "", _values("Area", 4.01, 12.5, 400, of="points")),
    Kind("hole", "", _shape(_with_hole), holes="refuse"),
    *(Kind("breaks_at_six_decimals", name, _breaking(ring)) for name, ring in _BREAKING.items()),
    Kind("breaks_at_six_decimals", "binary", _binary_touching),
    Kind("too_long", "name", _values("ProducerName", "x" * 501, "é" * 600)),
    *(Kind(*warning, is_problem=False) for warning in _WARNINGS),
    Kind("", "country in small letters", _values("ProducerCountry", _lower)),
    Kind("", "area within five per cent",
         _values("Area", _times(1.045), _times(0.96), of="polygons")),
    Kind("", "least and most area of a point", _values("Area", 0.0001, 4, 4.0, of="points")),
    Kind("", "name of 500 characters", _values("ProducerName", "é" * 500)),
    Kind("", "neighbors", _rectangles((-200, -100, 0, 100), (0, -100, 200, 100))),
    Kind("", "positions equal at six decimals", _shape(lambda _, cell: _from_corner(cell, _NEAR))),
)  # fmt: skip


# An instance


def fill(app: Flask, account_id: str, made: Plots) -> dict[str, str]:
    """Give an account all plots, the short way: rows in bulk, with what the service derives, but
    without events, entries and former boundaries. Returns the id of each project and asset by its
    name."""
    moment = clock.now()
    common = {"account_id": account_id, "status": "active"}
    common |= {"created_at": moment, "updated_at": moment}
    projects = [_project_row(Plot(name, {}, None)) | common for name in sorted(made.holders)]
    projects += [_project_row(plot) | common for plot in made.plots if plot.holder is None]
    ids = {row["name"]: row["id"] for row in projects}
    assets = [
        _asset_row(plot) | common | {"project_id": ids[plot.holder]}
        for plot in made.plots
        if plot.holder is not None
    ]
    size = sum(row["stored_bytes"] for row in projects)
    size += sum(of_assets.stored_bytes(row["metadata_json"]) for row in assets)
    counted = {
        "projects_active": AccountUsage.projects_active + len(projects),
        "area_m2": AccountUsage.area_m2 + sum(row["area_m2"] or 0 for row in projects),
        "stored_bytes": AccountUsage.stored_bytes + size,
    }
    with app.app_context(), transaction():
        insert_rows(Project, projects)
        if assets:
            insert_rows(Asset, assets)
        own = AccountUsage.account_id == account_id
        db.session.execute(update(AccountUsage).where(own).values(counted))
    return ids | {row["name"]: row["id"] for row in assets}


def _project_row(plot: Plot) -> dict[str, Any]:
    metadata = dumps(plot.metadata).decode() if plot.metadata else None
    columns = of_projects.geometry_columns(plot.geometry and read_boundary(plot.geometry))
    return {
        "id": new_id("project"),
        "name": plot.name,
        "slug": slugify(plot.name),
        "metadata_json": metadata,
        "stored_bytes": of_projects.stored_bytes(columns["geometry"], metadata),
        **of_projects.search_columns(plot.name, None, None),
        **columns,
    }


def _asset_row(plot: Plot) -> dict[str, Any]:
    return {
        "id": new_id("asset"),
        "name": plot.name,
        "type": "plot",
        "metadata_json": dumps(plot.metadata).decode(),
        **of_assets.search_columns(plot.name, None),
        **of_assets.location_columns(plot.geometry and read_point(plot.geometry)),
    }
