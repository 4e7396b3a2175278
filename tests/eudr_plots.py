"""Plots of many producers, as a cooperative has them, and faults planted on some of them.

    made = make_plots(seed)                    # 10,000 plots, 400 producers, three countries
    ids = fill(client.app, client.account_id, made)     # or POST made.projects, made.assets
    report = client.get("/v1/eudr", ...).json["data"]
    found = [("problem", each["name"], each["code"]) for each in report["problems"]] + ...
    assert differences(made, found, variant=1, holes="split", points=True) == []

Plots with an area are projects; those kept as points are assets of type ``plot``, each in the
project of its producer that has no boundary, ``"<producer> (points)"``. The name of each project
and asset is unique. One seed makes the same plots always.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from flask import Flask
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
from tests import eudr_outlines as outlines
from tests.eudr_outlines import Cell

PLOTS: Final = 10_000
PRODUCERS: Final = 400
EACH: Final = 12  # plots with each kind of fault

_SHARES: Final = {"GH": 0.5, "CI": 0.3, "EC": 0.2}
_POINTS: Final = 0.25
_MULTIPOLYGONS: Final = 0.05
_WITHOUT_AREA: Final = 0.1
_FIRST: Final = {
    "GH": "Abena Akosua Ama Efua Kofi Kojo Kwabena Kwaku Kwame Yaa Yaw Afia Esi Kwasi Adwoa",
    "CI": "Adjoua Affoué Ahou Aya Brou Koffi Konan Kouadio Kouamé N’Guessan Yao Éric Akissi",
    "EC": "José María Ángel Carmen Édison Fátima Jesús Luis Marlene Néstor Rosa Ramón Yolanda Iván",
}  # fmt: skip
_LAST: Final = {
    "GH": "Acheampong Agyeman Amoah Asante Boateng Darko Frimpong Mensah Opoku Osei Owusu Sarpong",
    "CI": "Bamba Coulibaly Diabaté Gnahoré Koné Kouakou Ouattara Soro Touré Zadi Zokou Yéo Tapé",
    "EC": "Cedeño Chávez Intriago Loor Macías Mendoza Moreira Muñoz Peñafiel Vélez Zambrano Zúñiga",
}  # fmt: skip
_PLACES: Final = {
    "GH": "Abofour Antoakrom Bibiani Dunkwa Goaso Juaso Mankranso Nkawie Obuasi Tepa",
    "CI": "Bonon Daloa Divo Gagnoa Guibéroua Hiré Issia Lakota Oumé Sinfra",
    "EC": "Buena_Fe El_Carmen La_Concordia Mocache Patricia_Pilar Quevedo Quinsaloma",
}


class Producer(NamedTuple):
    name: str
    country: str


@dataclass
class Plot:
    """A project with a boundary, or an asset of type ``plot`` of the project named ``holder``.

    ``metadata`` is as it is sent; ``geometry`` a Polygon, MultiPolygon or Point, or None.
    """

    name: str
    metadata: dict[str, Any]
    geometry: dict[str, Any] | None
    holder: str | None = None

    @property
    def hectares(self) -> float:
        """The geodesic area, of polygons."""
        assert self.geometry is not None
        return outlines.hectares(self.geometry)


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

    def severity(self, variant: int) -> str:
        """ "problem" or "warning"."""
        is_problem = variant == 2 if self.code == "country_missing" else self.is_problem
        return "problem" if is_problem else "warning"


@dataclass
class Plots:
    """All plots, in an order without meaning."""

    plots: list[Plot]
    producers: list[Producer]
    planted: list[Planted] = field(default_factory=list)
    holders: dict[str, Producer] = field(default_factory=dict)  # of assets, by their names

    @property
    def projects(self) -> list[dict[str, Any]]:
        """Bodies for ``POST /v1/projects``, the holders of assets first."""
        held = [{"name": name} for name in self.holders]
        own = [plot for plot in self.plots if plot.holder is None]
        return held + [
            {"name": plot.name, "metadata": plot.metadata}
            | ({} if plot.geometry is None else {"geometry": plot.geometry})
            for plot in own
        ]

    @property
    def assets(self) -> list[tuple[str, dict[str, Any]]]:
        """Bodies for ``POST /v1/projects/{id}/assets``, each with the name of its project."""
        return [
            (plot.holder, {"name": plot.name, "type": "plot", "metadata": plot.metadata}
            | ({} if plot.geometry is None else {"location": plot.geometry}))
            for plot in self.plots
            if plot.holder is not None
        ]  # fmt: skip

    @property
    def faulty(self) -> set[str]:
        """The names of plots with a planted fault, on whatever condition."""
        return {name for each in self.planted if each.code for name in each.names}

    def plot(self, name: str) -> Plot:
        """The plot of this name."""
        return next(plot for plot in self.plots if plot.name == name)


def make_plots(
    seed: int, *, plots: int = PLOTS, producers: int = PRODUCERS, each: int = EACH
) -> Plots:
    """Plots of so many producers.

    Args:
        each: how many plots, or pairs of plots, get each kind of fault; 0: none.
    """
    maker = _Maker(seed, plots, producers)
    planted = [plant for kind in KINDS for plant in kind.plant(maker, each)] if each else []
    while len(maker.plots) < plots:
        maker.add_any()
    maker.rng.shuffle(maker.plots)
    return Plots(maker.plots[:plots], maker.producers, planted, maker.holders)


def differences(
    made: Plots,
    found: Iterable[tuple[str, str | None, str]],
    *,
    variant: int = 1,
    holes: str = "split",
    points: bool = True,
) -> list[str]:
    """What a report lacks and what it has too much, each as a line; [] where it is right.

    Args:
        found: ``("problem" or "warning", name, code)``; those without a name are left out, as they
            are about the file.
        variant, holes, points: with which the report was asked for.
    """
    due: dict[tuple[str, str, str], Planted] = {}
    missing = set()
    for plant in made.planted:
        is_due = plant.holes in (None, holes) and (points or not plant.points)
        if plant.code and is_due:
            missing.add(plant)
            for name in plant.names:
                due[plant.severity(variant), name, plant.code] = plant
    lines = []
    for severity, name, code in found:
        if name is None:
            continue
        plant = due.get((severity, name, code))
        if plant is None:
            lines.append(f"too much: {severity} {code} of {name}")
        missing.discard(plant)  # type: ignore[arg-type]
    names = {plant: " and ".join(plant.names) for plant in missing}
    return lines + sorted(
        f"missing: {plant.severity(variant)} {plant.code} ({plant.kind}) of {names[plant]}"
        for plant in missing
    )


class _Maker:
    """Makes plots, each in a cell of its own."""

    def __init__(self, seed: int, plots: int, producers: int) -> None:
        self.rng = random.Random(seed)
        self.producers = _producers(self.rng, producers)
        self.plots: list[Plot] = []
        self.holders: dict[str, Producer] = {}
        self._cells = {country: outlines.cells(country) for country in _SHARES}
        for cells in self._cells.values():
            self.rng.shuffle(cells)
        self._owners = iter([*self.producers, *self.rng.choices(self.producers, k=plots)])

    def owner(self) -> tuple[Producer, Cell]:
        """The producer of the next plot, and where it is: each has one first."""
        producer = next(self._owners)
        return producer, self._cells[producer.country].pop()

    def lossy_owner(self) -> tuple[Producer, Cell]:
        """A producer with a cell where truncation in binary floating point loses a millionth."""
        country = self.rng.choice(("GH", "EC"))
        cells = self._cells[country]
        cell = cells.pop(next(i for i, each in enumerate(cells) if outlines.is_lossy(each)))
        return self.rng.choice([each for each in self.producers if each.country == country]), cell

    def add_any(self) -> Plot:
        """A plot without a fault, of any kind."""
        chance = self.rng.random()
        if chance < _POINTS:
            return self.add_point()
        is_multi = chance < _POINTS + _MULTIPOLYGONS
        return self.add(outlines.multipolygon if is_multi else outlines.polygon)

    def add(self, draw: Callable[[random.Random, Cell], dict[str, Any]]) -> Plot:
        """A project without a fault, with this boundary."""
        producer, cell = self.owner()
        return self.add_drawn(producer, draw(self.rng, cell))

    def add_drawn(self, producer: Producer, geometry: dict[str, Any]) -> Plot:
        plot = self._plot(producer, geometry)
        if self.rng.random() > _WITHOUT_AREA:
            plot.metadata["Area"] = round(plot.hectares, 4)
        return plot

    def add_point(self) -> Plot:
        """An asset without a fault."""
        producer, cell = self.owner()
        off = self.rng.uniform(-outlines.REACH, outlines.REACH), self.rng.uniform(-400, 400)
        return self.add_point_at(producer, cell, *off)

    def add_point_at(self, producer: Producer, cell: Cell, east: float, north: float) -> Plot:
        position = cell.position(east, north, self.rng.choice(outlines.DECIMALS))
        plot = self._plot(producer, {"type": "Point", "coordinates": position})
        plot.holder = f"{producer.name} {producer.country} (points)"
        self.holders[plot.holder] = producer
        if self.rng.random() > _WITHOUT_AREA:
            plot.metadata["Area"] = round(0.05 * 80 ** self.rng.random(), 2)  # 0.05 to 4
        return plot

    def _plot(self, producer: Producer, geometry: dict[str, Any]) -> Plot:
        place = self.rng.choice(_PLACES[producer.country].split()).replace("_", " ")
        name = f"{place} {len(self.plots) + 1:05}"
        metadata = {
            "ProducerName": producer.name,
            "ProducerCountry": producer.country,
            "ProductionPlace": name,
        }
        self.plots.append(Plot(name, metadata, geometry))
        return self.plots[-1]


def _producers(rng: random.Random, number: int) -> list[Producer]:
    """So many producers; the first of Ghana and the first of Côte d'Ivoire have the same name."""
    made: list[Producer] = []
    for country, share in _SHARES.items():
        first, last = _FIRST[country].split(), _LAST[country].split()
        for count in range(round(number * share)):
            name = f"{rng.choice(first)} {rng.choice(last)} {count + 1:03}"
            made.append(Producer(name, country))
    shared = next(index for index, each in enumerate(made) if each.country == "CI")
    made[shared] = Producer(made[0].name, "CI")
    rng.shuffle(made)
    return made


# Faults


class Kind(NamedTuple):
    """A way in which a plot can have the fault ``code``; "": something that is none.

    Args:
        make: adds the plot, or a pair of plots, to those of the maker, the number of the plot among
            those of the kind given, and returns them.
    """

    code: str
    name: str
    make: Callable[[_Maker, int], Collection[Plot]]
    is_problem: bool = True
    holes: str | None = None

    def plant(self, maker: _Maker, number: int) -> Iterable[Planted]:
        """Make so many plots of the kind."""
        for index in range(number):
            plots = self.make(maker, index)
            points = any(plot.holder is not None for plot in plots)
            names = tuple(plot.name for plot in plots)
            yield Planted(self.code, self.name, names, self.is_problem, self.holes, points)


def _values(key: str, *values: Any, of: str = "any") -> Callable[[_Maker, int], Collection[Plot]]:
    """Plots with these values of a key, one after another; None leaves the key out, and a function
    makes the value from the plot.

    Args:
        of: ``polygons``, ``points``, or ``any``, by turns.
    """

    def make(maker: _Maker, index: int) -> Collection[Plot]:
        is_point = of == "points" or (of == "any" and index % 3 == 2)
        plot = maker.add_point() if is_point else maker.add(outlines.polygon)
        value = values[index % len(values)]
        value = value(plot) if callable(value) else value
        plot.metadata.pop(key, None)
        if value is not None:
            plot.metadata[key] = value
        return [plot]

    return make


def _shape(
    draw: Callable[[random.Random, Cell], dict[str, Any]],
) -> Callable[[_Maker, int], Collection[Plot]]:
    """Plots of this shape, without ``Area``."""

    def make(maker: _Maker, index: int) -> Collection[Plot]:
        plot = maker.add(draw)
        plot.metadata.pop("Area", None)
        return [plot]

    return make


def _binary_touching(maker: _Maker, index: int) -> Collection[Plot]:
    producer, cell = maker.lossy_owner()
    return [maker.add_drawn(producer, outlines.binary_touching(maker.rng, cell))]


def _without_place(of: str) -> Callable[[_Maker, int], Collection[Plot]]:
    def make(maker: _Maker, index: int) -> Collection[Plot]:
        plot = maker.add_point() if of == "points" else maker.add(outlines.polygon)
        plot.geometry = None
        return [plot]

    return make


def _times(factor: float) -> Callable[[Plot], float]:
    return lambda plot: round(plot.hectares * factor, 4)


def _rectangles(
    first: tuple[float, ...], second: tuple[float, ...]
) -> Callable[[_Maker, int], Collection[Plot]]:
    """Pairs of plots in one cell, of one producer or two; meters from its middle: west, south,
    east, north."""

    def make(maker: _Maker, index: int) -> Collection[Plot]:
        producer, cell = maker.owner()
        others = [each for each in maker.producers if each.country == producer.country]
        other = producer if index % 2 else maker.rng.choice(others)
        pair = ((producer, first), (other, second))
        return [maker.add_drawn(who, outlines.rectangle(cell, *box)) for who, box in pair]

    return make


def _point_in_polygon(maker: _Maker, index: int) -> Collection[Plot]:
    producer, cell = maker.owner()
    around = outlines.rectangle(cell, -150, -150, 150, 150)
    place = maker.rng.uniform(-100, 100), maker.rng.uniform(-100, 100)
    return [maker.add_drawn(producer, around), maker.add_point_at(producer, cell, *place)]


def _same_points(maker: _Maker, index: int) -> Collection[Plot]:
    producer, cell = maker.owner()
    first, second = (maker.add_point_at(producer, cell, 0, 0) for _ in range(2))
    second.geometry = first.geometry
    return [first, second]


def _polygon_on_part(maker: _Maker, index: int) -> Collection[Plot]:
    """A MultiPolygon, and a plot over one of its parts."""
    producer, cell = maker.owner()
    parts = [(-300, -100, -100, 100), (100, -100, 300, 100)]
    rings = [outlines.rectangle(cell, *box)["coordinates"] for box in parts]
    multi = {"type": "MultiPolygon", "coordinates": rings}
    over = outlines.rectangle(cell, 200, 0, 400, 200)
    return [maker.add_drawn(producer, geometry) for geometry in (multi, over)]


def _lower(plot: Plot) -> str:
    return str(plot.metadata["ProducerCountry"]).lower()


KINDS: Final = (
    Kind("country_invalid", "no code", _values("ProducerCountry", "UK", "XX", "EL")),
    Kind("country_missing", "no country", _values("ProducerCountry", None, "")),
    Kind("country_differs", "of the place", _values("ProducerCountry", "DE", "br"),
         is_problem=False),
    Kind("producer_missing", "no name", _values("ProducerName", None, "", "  "),
         is_problem=False),
    Kind("no_place", "project without boundary", _without_place("polygons")),
    Kind("no_place", "plot without location", _without_place("points")),
    Kind("area_invalid", "of a polygon", _values("Area", 0, -5, -0.25, of="polygons")),
    Kind("area_invalid", "of a point", _values("Area", 0, -5, 0.00009, of="points")),
    Kind("point_over_4_ha", "", _values("Area", 4.01, 12.5, 400, of="points")),
    Kind("hole", "", _shape(outlines.with_hole), holes="refuse"),
    *(Kind("breaks_at_six_decimals", draw.__name__, _shape(draw)) for draw in outlines.BREAKING),
    Kind("breaks_at_six_decimals", "binary_touching", _binary_touching),
    Kind("too_long", "name", _values("ProducerName", "x" * 501, "é" * 600)),
    Kind("area_differs", "a little", _values("Area", _times(1.054), _times(0.946), of="polygons"),
         is_problem=False),
    Kind("area_differs", "much", _values("Area", _times(2), _times(0.4), of="polygons"),
         is_problem=False),
    Kind("area_text", "of a polygon",
         _values("Area", lambda plot: str(round(plot.hectares, 3)), of="polygons"),
         is_problem=False),
    Kind("area_text", "of a point", _values("Area", "3", "0.75", of="points"), is_problem=False),
    Kind("overlap", "a tenth", _rectangles((-200, -100, 20, 100), (0, -100, 200, 100)),
         is_problem=False),
    Kind("overlap", "one within another", _rectangles((-200, -200, 200, 200), (-50, -50, 50, 50)),
         is_problem=False),
    Kind("overlap", "the same outline", _rectangles((-100, -90, 100, 90), (-100, -90, 100, 90)),
         is_problem=False),
    Kind("overlap", "part of a MultiPolygon", _polygon_on_part, is_problem=False),
    Kind("overlap", "point in a polygon", _point_in_polygon, is_problem=False),
    Kind("overlap", "points at the same place", _same_points, is_problem=False),
    Kind("place_missing", "", _values("ProductionPlace", None, ""), is_problem=False),
    Kind("", "country in small letters", _values("ProducerCountry", _lower)),
    Kind("", "area within five per cent",
         _values("Area", _times(1.049), _times(0.954), of="polygons")),
    Kind("", "least and most area of a point", _values("Area", 0.0001, 4, 4.0, of="points")),
    Kind("", "name of 500 characters", _values("ProducerName", "é" * 500)),
    Kind("", "neighbors", _rectangles((-200, -100, 0, 100), (0, -100, 200, 100))),
    Kind("", "positions equal at six decimals", _shape(outlines.with_near_positions)),
)  # fmt: skip


# An instance


def fill(app: Flask, account_id: str, made: Plots) -> dict[str, str]:
    """Give an account all plots, the short way: rows in bulk, with what the service derives, but
    without events, entries and former boundaries. Returns the id of each project and asset by its
    name."""
    moment = clock.now()
    common = {"account_id": account_id, "status": "active", "created_at": moment}
    common["updated_at"] = moment
    projects = [_project_row(body) | common for body in made.projects]
    ids = {row["name"]: row["id"] for row in projects}
    assets = [_asset_row(body) | common | {"project_id": ids[name]} for name, body in made.assets]
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


def _project_row(body: dict[str, Any]) -> dict[str, Any]:
    boundary = read_boundary(body["geometry"]) if "geometry" in body else None
    name = body["name"]
    metadata = dumps(body["metadata"]).decode() if "metadata" in body else None
    columns = of_projects.geometry_columns(boundary)
    return {
        "id": new_id("project"),
        "name": name,
        "slug": slugify(name),
        "metadata_json": metadata,
        "stored_bytes": of_projects.stored_bytes(columns["geometry"], metadata),
        **of_projects.search_columns(name, None, None),
        **columns,
    }


def _asset_row(body: dict[str, Any]) -> dict[str, Any]:
    location = read_point(body["location"]) if "location" in body else None
    return {
        "id": new_id("asset"),
        "name": body["name"],
        "type": body["type"],
        "metadata_json": dumps(body["metadata"]).decode(),
        **of_assets.search_columns(body["name"], None),
        **of_assets.location_columns(location),
    }
