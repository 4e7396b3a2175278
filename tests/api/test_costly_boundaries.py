"""Boundaries at the bound of positions that were made to be costly: what each request about one
takes of a web process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from tests.api.server import Answer, Server, gunicorn, web_processes
from tests.countries import needs_countries
from tests.geometry.drawing import box, multipolygon, placed, polygon
from tests.geometry.expensive_shapes import (
    closed,
    comb,
    squares_with_holes,
    star,
    tiny_squares,
    zigzag,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="only Linux has it"),
    needs_countries,
]

ATTACKERS: Final = 3
TRIES: Final = 2
SECONDS: Final = 2.0  # of processor time of a web process, which docs/limits.md promises
POSITIONS: Final = 98_000
# Other tests keep the machine busy, so that time is measured by the processor.
PATIENT: Final = "from app.api import expensive; expensive.EXPENSIVE_WAIT_SECONDS = 60"
BORDER: Final = (7.6, 47.6, 3.0)  # of three countries
CONTINENT: Final = (10.0, 40.0, 80.0)  # which most pieces of countries lie in or near to
VALIDATE: Final = "/v1/geometry/validate"
WORLD: Final = "-180,-90,180,90"
FEATURES: Final = "/ogc/collections/projects/items"


def holes(number: int) -> dict[str, Any]:
    """A square with holes side by side."""
    side = int(number**0.5) + 1
    west, south = zip(*((each % side, each // side) for each in range(number)), strict=True)
    rings = [
        box(x + 0.2, y + 0.2, x + 0.7, y + 0.7)[::-1] for x, y in zip(west, south, strict=True)
    ]
    return polygon(box(0, 0, side, side), *rings)


def circle(positions: int) -> dict[str, Any]:
    turns = np.linspace(0, 2 * np.pi, positions - 1, endpoint=False)
    return polygon(closed(np.stack([np.cos(turns), np.sin(turns)], axis=1)))


def turned(geometry: dict[str, Any]) -> dict[str, Any]:
    return polygon(*([[y, x] for x, y in ring] for ring in geometry["coordinates"]))


def needles_near_the_pole(number: int) -> dict[str, Any]:
    """Few countries are in its box, and all of them within 25 km as the map is stretched there."""
    wests = np.linspace(-8, 8, number, endpoint=False).tolist()
    up = np.linspace(62, 89.9, 7)
    sides = [
        [(west, lat) for lat in up] + [(west + 0.01, lat) for lat in up[::-1]] for west in wests
    ]
    return multipolygon(*([closed(side)] for side in sides))


SHAPES: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "comb": lambda: placed(comb(POSITIONS), *BORDER),
    "comb across that one": lambda: placed(turned(comb(POSITIONS)), *BORDER),
    "star": lambda: placed(star(POSITIONS), *BORDER),
    "20,000 holes": lambda: placed(holes(19_990), *BORDER),
    "20,000 parts": lambda: placed(tiny_squares(99_900), *CONTINENT),
    "10,000 parts with a hole": lambda: placed(squares_with_holes(99_900), *CONTINENT),
    "300 needles near the pole": lambda: needles_near_the_pole(300),
    "4,000 diagonals over a continent": lambda: placed(zigzag(4_000), *CONTINENT),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("served")
    with gunicorn(folder, code=PATIENT, REDIS_URL=valkey_url, WEB_WORKERS="1") as running:
        yield running


@pytest.fixture(scope="module")
def most(server: Server) -> float:
    """What a request may take of the processor; more on a machine on which a plain boundary of as
    many positions takes long."""
    body = json.dumps({"geometry": placed(circle(POSITIONS), *BORDER)}).encode()
    for _ in range(2):  # the first one starts what compares it with the countries
        began = threads_seconds(server)
        assert post(server, VALIDATE, body).status == 200
        used = threads_seconds(server) - began
    return max(SECONDS, 5 * used)


def post(server: Server, path: str, body: bytes, method: str = "POST") -> Answer:
    head = f"{method} {path} HTTP/1.1\nContent-Type: application/json\nContent-Length: {len(body)}"
    return server.send(head, body)


@pytest.mark.parametrize("name", list(SHAPES))
def test_none_takes_long_of_a_web_process(server: Server, most: float, name: str) -> None:
    """Whatever cannot be told in time is left out, and refuses nothing."""

    def within(ask: Callable[[], Answer], *statuses: int) -> Answer:
        began = threads_seconds(server)
        answer = ask()
        used = threads_seconds(server) - began
        assert used < most, f"{used:.2f} s of processor time"
        assert answer.status in statuses, answer.body[:500]
        return answer

    geometry = SHAPES[name]()
    body = json.dumps({"name": name, "geometry": geometry}).encode()
    check = json.dumps({"geometry": geometry, "overlaps": True}).encode()
    made = within(lambda: post(server, "/v1/projects", body), 201, 422)
    within(lambda: post(server, VALIDATE, check), 200)
    if made.status == 422:
        return
    path = f"/v1/projects/{made.json['data']['id']}"
    within(lambda: post(server, path, b'{"geometry":null}', "PATCH"), 200)
    former = server.send(f"GET {path}/boundaries HTTP/1.1").json["data"][-1]["id"]
    within(lambda: post(server, f"{path}/boundaries/{former}/restore", b""), 200)
    plot = f"ids={made.json['data']['id']}"
    within(lambda: server.send(f"GET /v1/eudr?{plot} HTTP/1.1"), 200)
    for address in (
        f"{path}/overlaps",
        f"/v1/projects/map?bbox={WORLD}&zoom=4",
        f"/v1/projects/map?bbox={WORLD}&zoom=14",
        f"/v1/exports/projects?format=eudr&{plot}",
        f"{FEATURES}?bbox={WORLD}&crs=http://www.opengis.net/def/crs/EPSG/0/3857",
        f"{FEATURES}?filter=S_INTERSECTS(geometry,LINESTRING(7.6%2047.6,7.61%2047.7))",
    ):
        within(lambda address=address: server.send(f"GET {address} HTTP/1.1"), 200, 400)


def threads_seconds(server: Server) -> float:
    """The processor time of the web process, without what it has others do."""
    (process,) = web_processes(server.pid, 1)
    total = 0
    for task in Path(f"/proc/{process}/task").glob("*/schedstat"):
        with suppress(OSError):  # a thread that has just ended
            total += int(task.read_text().split()[0])
    return total / 1e9
