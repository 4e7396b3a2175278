"""How quick the page of projects and its map are: with 5,000 and with 100,000 projects.

Projects have 61 positions each. Chromium without a screen and without a graphics card opens the
page with an empty cache, then drags the map in all directions at several zooms. Then the maps of
the larger account are asked for, uncompressed; and Lighthouse, which comes from npm
(bench/lighthouse), scores the page of 5,000 on SQLite, of 100. ``bin/test`` installs Node and the
browser.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import insert, select, update

from app.auth.sessions import start_session
from app.db.extensions import db
from app.db.snapshots import database_url, open_transaction
from app.geometry.shapes import map_shapes
from app.models import BoundaryEntry, BoundaryShape, Project
from app.projects.boundary_history.entries import boundary_checksum
from app.values import clock
from bench import report
from bench.report import Effort, judged
from bench.servers import serve, use_last_core
from bin._third_party import NAMES, npm_in, npm_install
from tests.browser.chromium import BACKGROUND, chromium, find
from tests.make.bulk import BATCH, EAST, NORTH, SOUTH, WEST, Filled, Row, fill, vacuum
from tests.node import NODE
from tests.ports import free_port

FULL: Final = Effort(rounds=5, seconds=0.0)  # it counts page loads, not seconds
_SIZES: Final = (5_000, 100_000)
_HEAD_OF_MAPS: Final = (
    "| What | Features | Size | Median | Slowest | Target | |\n|---|---:|---:|---:|---:|---|---|"
)
POSITIONS: Final = 61
MOST_MILLISECONDS: Final = 150
_EVERYWHERE: Final = f"{WEST - 1},{SOUTH - 1},{EAST + 1},{NORTH + 1}"
_A_TENTH: Final = "0,0,68,60"
_MAPS: Final = {
    "everything, zoom 2": "zoom=2",
    "everything, zoom 8": "zoom=8",
    "a box around most, zoom 8": f"zoom=8&bbox={_EVERYWHERE}",
    "a tenth of them, zoom 11": f"zoom=11&bbox={_A_TENTH}",
    "a twentieth, zoom 16, boundaries as they are": "zoom=16&bbox=0,0,34,60",
}
LEAST: Final = 95
_LOCKED: Final = Path(__file__).parent / "lighthouse"
_KINDS: Final = {"desktop": ["--preset=desktop"], "phone": []}
_CATEGORIES: Final = "performance,accessibility,best-practices"
_HEAD_OF_SCORES: Final = (
    "| Device | Performance | Accessibility | Best practices | Target | |\n"
    "|---|---:|---:|---:|---|---|"
)
_PAINT_SECONDS: Final = 1.5
_TASK_MILLISECONDS: Final = 100
_CODE_KILOBYTES: Final = 200
_ZOOMS: Final = 3
_HEAD: Final = "| Projects | What | Measured | Target | |\n|---:|---|---:|---|---|"
_OBSERVE: Final = """
window.tasks = [];
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.tasks.push(duration);
}).observe({ type: "longtask", buffered: true });
"""
_TIMES: Final = """() => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
  map: performance.getEntriesByName("features-drawn")[0]?.startTime ?? null,
  code: performance.getEntriesByType("resource")
    .filter(({ initiatorType, name }) => initiatorType === "script" || name.endsWith(".js"))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
})"""


class Opened(NamedTuple):
    """A page load: seconds until something is painted and until the map shows the projects, and
    the bytes of its code as they were sent."""

    paint: float
    drawn: float
    code: int


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    """The tables of one database: pages and maps of each size, and the scores of Lighthouse."""
    use_last_core()
    pages, maps, scores = [_HEAD], [_HEAD_OF_MAPS], [_HEAD_OF_SCORES]
    with chromium() as browser:
        for size in _SIZES:
            url = new_database()
            filled = fill(
                folder / str(size), url, accounts=1, size=effort.number(size), draw=irregular
            )
            simplify_all(filled)
            vacuum(url)
            with serve("wsgi:app", filled.environ) as server:
                pages += _measure(browser, server.port, filled, effort)
                if size == _SIZES[-1]:
                    client = MapClient(server.port, filled.key)
                    for what, query in _MAPS.items():
                        maps.append(_map_line(what, client.ask(query, effort.rounds)))
    filled = fill(folder / "scored", "", accounts=1, size=effort.number(5_000), draw=irregular)
    simplify_all(filled)
    with serve("wsgi:app", filled.environ) as server:
        scores += _scores(folder, server.port, session_of(filled), effort)
    return "\n".join([*pages, "", *maps, "", *scores])


def _measure(browser: Browser, port: int, filled: Filled, effort: Effort) -> list[str]:
    address, token = f"http://127.0.0.1:{port}", session_of(filled)
    opened = [_open(browser, address, token) for _ in range(effort.rounds + 1)][1:]
    tasks = _pan(browser, address, token, min(_ZOOMS, effort.rounds))
    paint = statistics.median(each.paint for each in opened)
    drawn = statistics.median(each.drawn for each in opened)
    code, longest = opened[0].code / 1000, max(tasks, default=0.0)
    rows = (
        ("first paint", f"{paint:.2f} s", f"≤ {_PAINT_SECONDS} s", paint <= _PAINT_SECONDS),
        (
            "list and shapes shown",
            f"{drawn:.2f} s",
            f"≤ {_PAINT_SECONDS} s",
            drawn <= _PAINT_SECONDS,
        ),
        (
            "longest task while panning",
            f"{longest:.0f} ms" if tasks else "under 50 ms",
            f"≤ {_TASK_MILLISECONDS} ms",
            longest <= _TASK_MILLISECONDS,
        ),
        ("code", f"{code:.0f} KB", f"≤ {_CODE_KILOBYTES} KB", code <= _CODE_KILOBYTES),
    )
    return [
        f"| {filled.size:,} | {what} | {measured} | {target} | {judged(met)} |"
        for what, measured, target, met in rows
    ]


def session_of(filled: Filled) -> str:
    """The session cookie of the account's owner."""
    principal = filled.principals[0]
    with filled.app.app_context():
        token = start_session(principal.user_id, principal.account_id, address="", browser="")
        db.session.commit()
    return token


def _page(browser: Browser, address: str, token: str) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": "canopy_session", "value": token, "url": address}])
    page = context.new_page()
    page.add_init_script(_OBSERVE)
    return page


def _load(page: Page, address: str) -> Any:
    page.goto(f"{address}/projects")
    while True:
        times = page.evaluate(_TIMES)
        if times["map"] is not None:
            return times
        page.wait_for_timeout(20)


def _open(browser: Browser, address: str, token: str) -> Opened:
    page = _page(browser, address, token)
    times = _load(page, address)
    page.context.close()
    return Opened(times["paint"] / 1000, times["map"] / 1000, times["code"])


def _pan(browser: Browser, address: str, token: str, zooms: int) -> list[float]:
    """Drag the map. Returns the tasks of more than 50 ms, in milliseconds."""
    page = _page(browser, address, token)
    _load(page, address)
    page.wait_for_timeout(2_000)
    box = page.locator("#map").bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tasks: list[float] = []
    for _ in range(zooms):
        page.evaluate("window.tasks.length = 0")
        for across, down in ((-300, 0), (0, -200), (300, 0), (0, 200), (-250, -150)):
            page.mouse.move(*middle)
            page.mouse.down()
            page.mouse.move(middle[0] + across, middle[1] + down, steps=15)
            page.mouse.up()
            page.wait_for_timeout(700)
        tasks += page.evaluate("window.tasks")
        page.locator("#map").focus()
        page.keyboard.press("+")
        page.wait_for_timeout(1_500)
    page.context.close()
    return tasks


class MapClient:
    """A client of one server."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=600)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        body = self._send("GET", "/v1/projects?per_page=1")
        self._project = f"/v1/projects/{json.loads(body)['data'][0]['id']}"

    def ask(self, query: str, rounds: int) -> tuple[list[float], bytes]:
        """Ask for a map again and again, after once without counting; before each time a project
        changes, as an unchanged map is not drawn again. The milliseconds, and the last map."""
        times, answer = [], b""
        for number in range(rounds + 1):
            self._send("PUT", self._project, json.dumps({"description": f"Changed {number}"}))
            began = time.perf_counter()
            answer = self._send("GET", f"/v1/projects/map?{query}")
            times.append((time.perf_counter() - began) * 1000)
        return times[1:], answer

    def _send(self, method: str, path: str, body: str | None = None) -> bytes:
        self._connection.request(method, path, body, self._headers)
        response = self._connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise SystemExit(f"{path}: {response.status} {answer[:500]!r}")
        return answer


def _map_line(what: str, asked: tuple[list[float], bytes]) -> str:
    times, body = asked
    found, median = json.loads(body), statistics.median(times)
    features = f"{found['numberReturned']:,} of {found['numberMatched']:,}"
    return (
        f"| {what} | {features} | {len(body) / 1e6:,.2f} MB | {median:,.0f} ms | "
        f"{max(times):,.0f} ms | ≤ {MOST_MILLISECONDS} ms | {judged(median <= MOST_MILLISECONDS)} |"
    )


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


def simplify_all(filled: Filled) -> None:
    """Simplify all boundaries, in bulk."""
    url = database_url(filled.app.config["SETTINGS"])
    with open_transaction(url) as connection:  # without a time limit
        columns = (Project.id, Project.account_id, Project.created_at, Project.geometry)
        entries = [
            {
                "project_id": project_id, "id": project_id.replace("proj_", "bnd_"),
                "account_id": account_id, "created_at": created_at, "source": "api", "area_m2": 0,
                "checksum": boundary_checksum(boundary), "stored_bytes": 0,
            }
            for project_id, account_id, created_at, boundary in connection.execute(
                select(*columns).where(Project.geometry.is_not(None))
            )
        ]  # fmt: skip
        connection.execute(insert(BoundaryEntry), entries)
    with open_transaction(url) as connection:
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


def _scores(folder: Path, port: int, token: str, effort: Effort) -> list[str]:
    """A row for each kind of device."""
    for name in NAMES:
        shutil.copy(_LOCKED / name, folder)
    npm_install(npm_in(NODE.parent.parent), folder)
    kinds = _KINDS if effort.rounds > 1 else dict(list(_KINDS.items())[:1])
    lines = []
    for kind, options in kinds.items():
        scores = _scored(folder, f"http://127.0.0.1:{port}/projects", token, options)
        is_met = min(scores.values()) >= LEAST
        shown = " | ".join(map(str, scores.values()))
        lines.append(f"| {kind} | {shown} | ≥ {LEAST} | {judged(is_met)} |")
    return lines


def _scored(folder: Path, address: str, token: str, more: list[str]) -> dict[str, int]:
    chromium, port, report = find(), free_port(), folder / "report.json"
    options = [*BACKGROUND, *chromium.options, f"--remote-debugging-port={port}"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.program, args=options, env=chromium.environment
        )
        command = [
            str(NODE), str(folder / "node_modules/lighthouse/cli/index.js"), address,
            f"--port={port}", "--quiet", "--output=json", f"--output-path={report}",
            f"--only-categories={_CATEGORIES}",
            f"--extra-headers={json.dumps({'Cookie': f'canopy_session={token}'})}", *more,
        ]  # fmt: skip
        subprocess.run(command, check=True, timeout=300)
        browser.close()
    found: dict[str, Any] = json.loads(report.read_text())["categories"]
    return {name: round(each["score"] * 100) for name, each in found.items()}


if __name__ == "__main__":
    report.measure(run, __doc__, FULL)
