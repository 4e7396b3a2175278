"""A running service with a layer of projects, and what programs that read it must find."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from app.assets.service import create_asset
from app.auth.principal import Principal
from app.db.connections import close_all
from app.db.extensions import db
from app.geometry import read_boundary, read_point
from app.projects.service import create_project
from tests.api.server import Server, gunicorn
from tests.make import Client, make_key, multi_square, operator_of, point, square

SIDE: Final = 0.01  # degrees from one square to the next
ROW: Final = 50  # squares in a row
BOX: Final = (10.0, 50.0, 10.199, 50.099)  # has 20 of them beside each other, in 10 rows

MIXED: Final = ({"b": 1}, "x", 3)


class Layer(NamedTuple):
    """A service, and what its layer of projects has."""

    server: Server
    reader: Client  # a key that can only read
    folder: Path
    count: int
    hectares: float
    in_box: int

    @property
    def rare(self) -> int:
        """The number of the project with a key of its own, the last one."""
        return self.count - 1

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/ogc"

    @property
    def key(self) -> str:
        return str(self.server.client.token)

    def requests(self) -> list[str]:
        """The requests so far: method, route and status."""
        found = (json.loads(line) for line in self.log().splitlines() if line.startswith("{"))
        return [
            f"{line['method']} {line['route']} {line['status']}"
            for line in found
            if "route" in line
        ]

    def log(self) -> str:
        """All that the service has written."""
        return (self.folder / "gunicorn.log").read_text()


@contextmanager
def layer(folder: Path, count: int, **settings: str) -> Iterator[Layer]:
    """A service with so many projects, and an asset in each tenth of them."""
    with gunicorn(folder, LOG_FORMAT="json", **settings) as server:
        records = _fill(server.client, count)
        reader = make_key(server.client, permissions=("projects:read", "assets:read"))
        hectares = sum(record["area_hectares"] or 0 for record in records)
        in_box = sum(map(_is_in_box, range(count)))
        yield Layer(server, reader, folder, count, hectares, in_box)


def _fill(client: Client, count: int) -> list[dict[str, Any]]:
    with client.app.app_context():
        principal = operator_of(client)
        records = [
            _create(principal, number, is_rare=number == count - 1) for number in range(count)
        ]
        db.session.commit()
        close_all()
    return records


def _create(principal: Principal, number: int, *, is_rare: bool) -> dict[str, Any]:
    geometry = _geometry(number)
    record = create_project(
        principal,
        name=f"Stand {number:05}",
        geometry=None if geometry is None else read_boundary(geometry),
        metadata_json=json.dumps(_metadata(number, is_rare=is_rare)),
    )
    if number % 10 == 0:
        west, south = _corner(number)
        location = read_point(point(west + SIDE / 2, south + SIDE / 2))
        name = f"Post {number}"
        create_asset(principal, record["id"], name=name, type="post", location=location)
    return record


def _metadata(number: int, *, is_rare: bool) -> dict[str, Any]:
    """One record has a key of its own, and one key has values of several types."""
    mixed = MIXED[number % len(MIXED)]
    own = {"species": "oak"} if is_rare else {}
    return {"forest": "Umpqua", "stand": number, "height": 1.5, "mixed": mixed} | own


def _corner(number: int) -> tuple[float, float]:
    return round(10 + number % ROW * SIDE, 6), round(50 + number // ROW * SIDE, 6)


def _geometry(number: int) -> dict[str, Any] | None:
    """Squares beside each other, as Polygon and MultiPolygon; every 25th project has none."""
    if number % 25 == 7:
        return None
    west, south = _corner(number)
    size = SIDE * 0.9
    return multi_square((west, south), size=size) if number % 3 else square(west, south, size)


def _is_in_box(number: int) -> bool:
    west, south = _corner(number)
    return _geometry(number) is not None and west <= BOX[2] and south <= BOX[3]
