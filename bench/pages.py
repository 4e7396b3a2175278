"""How quick the page of projects is in a browser: with 5,000 and with 100,000 projects.

python -m bench.pages              SQLite
python -m bench.pages --postgres   PostgreSQL, a server of its own
python -m bench.pages --write      written into docs/measured/pages.md too
python -m bench.pages --quick      only sees that it works

Projects have 61 positions each. Chromium without a screen and without a graphics card opens the
page with an empty cache, then drags the map in all directions at several zooms. The server and the
browser share the machine. ``bin/test`` installs what this needs from npm.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from playwright.sync_api import Browser, Page

from app.auth.sessions import start_session
from app.db.extensions import db
from bench.databases import measure_on_chosen
from bench.effort import Effort
from bench.filling import Filled, fill, vacuum
from bench.map import irregular, simplify_all
from bench.servers import own_worker_class, serve
from tests.browser.chromium import chromium

FULL: Final = Effort(rounds=5, seconds=0.0)  # it counts page loads, not seconds
_SIZES: Final = (5_000, 100_000)
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
    """The table of one database."""
    lines = [_HEAD]
    with chromium() as browser:
        for size in _SIZES:
            url = new_database()
            filled = fill(
                folder / str(size), url, accounts=1, size=effort.number(size), draw=irregular
            )
            simplify_all(filled, effort)
            vacuum(url)
            lines += _measure(browser, filled, effort)
    return "\n".join(lines)


def _measure(browser: Browser, filled: Filled, effort: Effort) -> list[str]:
    with serve("wsgi:app", filled.environ, worker_class=own_worker_class()) as server:
        address = f"http://127.0.0.1:{server.port}"
        token = session_of(filled)
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
        f"| {filled.size:,} | {what} | {measured} | {target} | {'met' if met else '**missed**'} |"
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


def main() -> None:
    measure_on_chosen(run, "pages", __doc__, FULL)


if __name__ == "__main__":
    main()
