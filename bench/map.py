"""What a map of the projects costs: how long its answer takes, and what it adds to a change.

python -m bench.map              SQLite
python -m bench.map --postgres   PostgreSQL, a server of its own
python -m bench.map --write      written into docs/measured/map.md too
python -m bench.map --quick      only sees that it works

One account has 100,000 projects with 61 positions each, another instance has one with a million
rectangles. A client asks again and again, and takes what it gets uncompressed. Before each time a
project changes, as an unchanged map is not drawn again.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import delete, insert, select, text, update

from app.db.snapshots import connect, database_url
from app.db.transactions import transaction
from app.geometry.shapes import map_shapes
from app.models import BoundaryEntry, BoundaryShape, Project
from app.policy.bounds import GEOMETRY_POSITIONS
from app.projects.boundary_history.shape_backlog import ShapeBacklog
from app.values import clock
from bench.databases import measure_on_chosen
from bench.effort import Effort
from bench.filling import BATCH, EAST, NORTH, SOUTH, WEST, Filled, Row, fill, vacuum
from bench.instance import polygon
from bench.servers import own_worker_class, serve

FULL: Final = Effort(rounds=15, seconds=0.0)  # it counts requests, not seconds
PROJECTS: Final = 100_000
MANY: Final = 1_000_000
POSITIONS: Final = 61
MOST_MILLISECONDS: Final = 150
_BY_JOB: Final = 3_000  # boundaries
_HEAD: Final = (
    "| What | Features | Size | Median | Slowest | Target | |\n|---|---:|---:|---:|---:|---|---|"
)
_EVERYWHERE: Final = f"{WEST - 1},{SOUTH - 1},{EAST + 1},{NORTH + 1}"
_A_TENTH: Final = "0,0,68,60"
_A_TWENTIETH: Final = "0,0,34,60"
_ENTRIES: Final = text(
    "INSERT INTO boundaries (project_id, id, account_id, created_at, area_m2, stored_bytes)"
    " SELECT id, 'bnd_' || substr(id, 6), account_id, created_at, area_m2, 0"
    " FROM projects WHERE geometry IS NOT NULL"
)


class Answered(NamedTuple):
    """Milliseconds of each request, and what came."""

    times: list[float]
    status: int
    body: bytes
    tag: str


def irregular(rng: random.Random) -> Row:
    """The columns of an irregular boundary of some thousand hectares."""
    west, south = rng.uniform(WEST, EAST), rng.uniform(SOUTH, NORTH)
    size = 0.03 * rng.lognormvariate(0, 0.6)
    turns = [2 * math.pi * number / (POSITIONS - 1) for number in range(POSITIONS - 1)]
    phases = [rng.uniform(0, 2 * math.pi) for _ in range(4)]
    ring = [
        [
            round(west + size * _reach(turn, phases) * math.cos(turn), 6),
            round(south + size * _reach(turn, phases) * math.sin(turn), 6),
        ]
        for turn in turns
    ]
    longitudes, latitudes = zip(*ring, strict=True)
    text = json.dumps({"type": "Polygon", "coordinates": [[*ring, ring[0]]]}, separators=(",", ":"))
    return {
        "west": min(longitudes),
        "south": min(latitudes),
        "east": max(longitudes),
        "north": max(latitudes),
        "area_m2": round(math.pi * (size * 111_320) ** 2 * math.cos(math.radians(south))),
        "geometry": text,
    }


def _reach(turn: float, phases: list[float]) -> float:
    return 1 + sum(
        0.3 / (number + 1) * math.sin((2 + 3 * number) * turn + phase)
        for number, phase in enumerate(phases)
    )


class Client:
    """A client of one server."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=600)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        _, body, _ = self._send("GET", "/v1/projects?per_page=1")
        self._project = f"/v1/projects/{json.loads(body)['data'][0]['id']}"

    def ask(self, query: str, rounds: int, *, changed: bool = True, tag: str = "") -> Answered:
        """Ask for a map again and again, after once without counting.

        Args:
            changed: whether a project is changed before each time.
            tag: of a map that the client has.
        """
        times = []
        for number in range(rounds + 1):
            if changed:
                self._send("PUT", self._project, json.dumps({"description": f"Changed {number}"}))
            began = time.perf_counter()
            status, answer, tag_of = self._send("GET", f"/v1/projects/map?{query}", tag=tag)
            times.append((time.perf_counter() - began) * 1000)
        return Answered(times[1:], status, answer, tag_of)

    def _send(
        self, method: str, path: str, body: str | None = None, tag: str = ""
    ) -> tuple[int, bytes, str]:
        """The status, the body and the tag of the response."""
        headers = self._headers | ({"If-None-Match": tag} if tag else {})
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        answer = response.read()
        if response.status not in (200, 304):
            raise SystemExit(f"{path}: {response.status} {answer[:500]!r}")
        return response.status, answer, response.headers["ETag"]


def maps(
    filled: Filled, cases: Mapping[str, str], effort: Effort, *, unchanged: bool = True
) -> list[str]:
    """A line for each query, and two for the last map once more, unchanged."""
    with serve("wsgi:app", filled.environ, worker_class=own_worker_class()) as server:
        client = Client(server.port, filled.key)
        found = {what: client.ask(query, effort.rounds) for what, query in cases.items()}
        if not unchanged:
            return [_line(what, answered) for what, answered in found.items()]
        again = client.ask(query := list(cases.values())[-1], effort.rounds, changed=False)
        known = client.ask(query, effort.rounds, changed=False, tag=again.tag)
    assert known.status == 304
    found |= {"the same, unchanged": again, "the same, unchanged and known to the client": known}
    return [_line(what, answered) for what, answered in found.items()]


def _line(what: str, answered: Answered) -> str:
    median, slowest = statistics.median(answered.times), max(answered.times)
    features = "0"
    if answered.body:
        found = json.loads(answered.body)
        shapes = sum(each["geometry"]["type"] != "Point" for each in found["features"])
        features = f"{found['numberReturned']:,} of {found['numberMatched']:,}, {shapes:,} shapes"
    mark = "met" if median <= MOST_MILLISECONDS else "**missed**"
    return (
        f"| {what} | {features} | {len(answered.body) / 1e6:,.2f} MB | {median:,.0f} ms | "
        f"{slowest:,.0f} ms | ≤ {MOST_MILLISECONDS} ms | {mark} |"
    )


def simplify_all(filled: Filled, effort: Effort) -> tuple[int, float]:
    """Simplify some boundaries as the job does, without its pauses, and all others in bulk. Returns
    how many the job did, and how many seconds it took."""
    url = database_url(filled.app.config["SETTINGS"])
    with connect(url) as connection:  # without a time limit
        connection.execute(_ENTRIES)
    began, done, waiting = time.perf_counter(), 0, ShapeBacklog()
    with filled.app.app_context():
        while done < effort.number(_BY_JOB) and (batch := waiting.read()):
            with transaction():
                done += waiting.write(batch)
    seconds = time.perf_counter() - began
    with connect(url) as connection:
        connection.execute(delete(BoundaryShape))
        read = select(Project.account_id, Project.row, Project.area_m2, Project.geometry)
        rows = connection.execute(read.where(Project.geometry.is_not(None))).all()
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            shapes = [
                {"account_id": account, "project_row": row, "level": level, "area_m2": area}
                | {"geometry": shape}
                for (account, row, area, _), made in zip(
                    some, map_shapes([boundary for *_, boundary in some]), strict=True
                )
                for level, shape in made.items()
            ]
            connection.execute(insert(BoundaryShape), shapes)
        connection.execute(update(BoundaryEntry).values(simplified_at=clock.now()))
    return done, seconds


def _median(run: Callable[[], Any], rounds: int) -> float:
    """Milliseconds of processor time."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        run()
        times.append((time.process_time() - began) * 1000)
    return statistics.median(times)


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    """The tables of one database."""
    url = new_database()
    filled = fill(folder, url, accounts=1, size=effort.number(PROJECTS), draw=irregular)
    vacuum(url)
    waiting = {"everything, zoom 8, none simplified yet": "zoom=8"}
    lines = [_HEAD, *maps(filled, waiting, effort, unchanged=False)]
    done, seconds = simplify_all(filled, effort)
    vacuum(url)
    cases = {
        "everything, zoom 2": "zoom=2",
        "everything, zoom 8": "zoom=8",
        "a box around most, zoom 8": f"zoom=8&bbox={_EVERYWHERE}",
        "a tenth of them, zoom 8": f"zoom=8&bbox={_A_TENTH}",
        "a tenth of them, zoom 11": f"zoom=11&bbox={_A_TENTH}",
        "a twentieth, zoom 16, boundaries as they are": f"zoom=16&bbox={_A_TWENTIETH}",
    }
    lines += maps(filled, cases, effort)
    url = new_database()
    many = fill(folder / "many", url, accounts=1, size=effort.number(MANY))
    vacuum(url)
    most = {
        f"everything of {many.size:,}, zoom 2": "zoom=2",
        f"a box around most of {many.size:,}, zoom 2": f"zoom=2&bbox={_EVERYWHERE}",
    }
    lines += maps(many, most, effort)
    lines += [
        "",
        f"The job simplifies {done / max(seconds, 1e-9):,.0f} boundaries of {POSITIONS} positions "
        f"a second, pauses left out, and one of {GEOMETRY_POSITIONS:,} positions in "
        f"{_largest():,.0f} ms.",
    ]
    return "\n".join(lines)


def _largest() -> float:
    text = json.dumps(polygon(GEOMETRY_POSITIONS))
    return _median(lambda: map_shapes([text]), 3)


def main() -> None:
    measure_on_chosen(run, "map", __doc__, FULL)


if __name__ == "__main__":
    main()
