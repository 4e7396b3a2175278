"""How lists keep their speed while an account grows, and beside a thousand other accounts.

Everything is asked in-process, through the services, with the statements that requests send, and
measured by the least processor time of many runs, with that of PostgreSQL: other work on the
machine hardly changes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

from app.assets.listing import asset_query, list_assets
from app.db import queries
from app.db.extensions import db
from app.geometry import Bounds
from app.lists import totals
from app.projects.listing import list_projects, project_query
from app.projects.lookup import read_project
from app.projects.service import create_project
from app.usage.statistics import usage_statistics
from bench import report
from bench.report import Effort, judged
from tests.make.bulk import (
    EAST,
    FREQUENT,
    NORTH,
    RARE,
    RARE_COUNT,
    SOUTH,
    WEST,
    Filled,
    fill,
    vacuum,
)

FULL: Final = Effort(rounds=400, seconds=0.8)
SIZES: Final = (
    (1, 1_000),
    (1, 100_000),
    (1, 1_000_000),
    (1_000, 1_000),
)  # accounts, projects of each
LEAST: Final = 5  # times that a case is run
WARM: Final = 8  # PostgreSQL decides after five times which plan it keeps
FIRST_MS: Final = 300.0  # the most that any first answer should take
_numbers = count(1)  # of the projects that are created while measuring

Call = Callable[[int], Any]


@dataclass(frozen=True)
class Case:
    """Something that is timed: what, its target, and how to make the call of a size.

    The target is a ratio, or milliseconds if ``in_ms``. Totals are counted in each run, unless it
    is to be the answer ``again``, to which they are known.
    """

    what: str
    target: float
    make: Callable[[Filled], Call]
    in_ms: bool = False
    again: bool = False


def counted(what: str, ratio: float, make: Callable[[Filled], Call]) -> list[Case]:
    """A list whose total takes long to count: its first answer, and the ratio of the next ones."""
    return [
        Case(what, FIRST_MS, make, in_ms=True),
        Case(f"{what}, again", ratio, make, again=True),
    ]


def listing(**query: Any) -> Callable[[Filled], Call]:
    """Lists asked in turn by the first accounts, so that no run finds all in its caches."""

    def make(filled: Filled) -> Call:
        wanted = {
            name: value(filled) if callable(value) else value for name, value in query.items()
        }
        asked = project_query(**wanted)
        ids = [each.account_id for each in filled.principals[:50]]
        return lambda number: list(list_projects(ids[number % len(ids)], asked)[0])

    return make


def deep(filled: Filled) -> int:
    """Page 500, or the middle one, which is the furthest, of a list that has fewer."""
    return min(500, filled.size // 40)


def small_box(filled: Filled) -> Bounds:
    """A box with some twenty projects in it, however many there are."""
    part = (RARE_COUNT / filled.size) ** 0.5
    return Bounds(10.0, 5.0, 10.0 + part * (EAST - WEST), 5.0 + part * (NORTH - SOUTH))


def reading(filled: Filled) -> Call:
    pairs = []
    for each in filled.principals[:50]:
        for page in (1, deep(filled)):
            records, _ = list_projects(each.account_id, project_query(page=page))
            pairs += [(each.account_id, record["id"]) for record in records]
    return lambda number: read_project(*pairs[number * 7 % len(pairs)])


def creating(description: str) -> Callable[[Filled], Call]:
    def make(filled: Filled) -> Call:
        def create(number: int) -> None:
            principal = filled.principals[number % len(filled.principals)]
            name = f"Created {next(_numbers)} of {filled.size}"
            create_project(principal, name=name, description=description)
            db.session.commit()

        return create

    return make


def assets(**query: Any) -> Callable[[Filled], Call]:
    """Lists of the assets of one project, which has a tenth as many as there are projects."""

    def make(filled: Filled) -> Call:
        page = min(500, filled.size // 400) if query.get("page") else 1
        asked = asset_query(**query | {"page": max(page, 1)})
        account_id = filled.principals[0].account_id
        return lambda _: list_assets(account_id, filled.project_id, asked)

    return make


def using(filled: Filled) -> Call:
    ids = [each.account_id for each in filled.principals]
    return lambda number: usage_statistics(ids[number % len(ids)], "enterprise")


LONG: Final = " ".join(f"{word} {number}" for number, word in enumerate(["parcel"] * 900))[:10_000]
WORLD: Final = Bounds(-180, -90, 180, 90)
AROUND: Final = Bounds(WEST - 1, SOUTH - 1, EAST + 1, NORTH + 1)  # all of the account
HALF: Final = Bounds(-180, -90, 0, 90)
ORDERS: Final = [
    (sort, order) for sort in ("created_at", "name", "area_hectares") for order in ("asc", "desc")
]
CASES: Final = [
    Case("item read", 2, reading),
    Case("first page", 2, listing()),
    Case("page 500 (of 1,000 projects: the middle page)", 5, listing(page=deep)),
    Case("middle page", FIRST_MS, listing(page=lambda filled: max(filled.size // 40, 1)),
         in_ms=True),
    Case("last page", 2, listing(page=lambda filled: filled.size // 20)),
    *(Case(f"sorted by {sort}, {order}", 2, listing(sort=sort, order=order))
      for sort, order in ORDERS if (sort, order) != ("created_at", "desc")),
    *(Case(f"status {status}, by {sort}, {order}", 2,
           listing(status=status, sort=sort, order=order))
      for status in ("active", "draft") for sort, order in ORDERS),
    Case(f"search: rare word ({RARE_COUNT} found)", 5, listing(search=RARE)),
    Case("search: rare word, by area", 5, listing(search=RARE, sort="area_hectares")),
    Case("search: no such word", 5, listing(search="xylophone")),
    *counted("search: frequent word (a third)", 5, listing(search=FREQUENT)),
    *counted("search: frequent word, page 500", 5,
             listing(search=FREQUENT, page=lambda filled: min(500, filled.size // 80))),
    *counted("search: frequent word, draft, by name", 5,
             listing(search=FREQUENT, status="draft", sort="name")),
    *counted("search: 2 characters, in half of all", 5, listing(search="oa")),
    *counted("search: 2 characters, in none", 5, listing(search="zx")),
    *counted("search: 1 character, in nearly all", 5, listing(search="e")),
    Case("box of some 20 projects", 5, listing(bbox=small_box)),
    Case("box of some 20 projects, with a frequent word", FIRST_MS,
         listing(bbox=small_box, search=FREQUENT), in_ms=True),
    *counted("box of half of the world", 5, listing(bbox=HALF)),
    *counted("box around all", 5, listing(bbox=AROUND)),
    *counted("box of the whole world", 5, listing(bbox=WORLD)),
    Case("box of the whole world, with a rare word", 5, listing(bbox=WORLD, search=RARE)),
    *counted("assets (a tenth as many, in one project): first page", 2, assets()),
    *counted("assets: page 500, or the middle one", 5, assets(page=500)),
    *counted("assets: by type and status", 5, assets(type="equipment", status="retired")),
    *counted("assets: box of the whole world", 2, assets(bbox=WORLD)),
    Case("assets: rare word", 5, assets(search=RARE)),
    Case("create", 2, creating("A new stand of oak and beech above the river.")),
    Case("create, with a description of 10,000 characters", 2, creating(LONG)),
    Case("usage", 2, using),
]  # fmt: skip


def _database_clock() -> Callable[[], float]:
    """The processor time, in seconds, that PostgreSQL takes for this database; SQLite takes that of
    this process."""
    if db.engine.dialect.name == "sqlite":
        return lambda: 0.0
    with queries.reading_connection() as connection:
        found = connection.exec_driver_sql(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        )
        paths = [Path(f"/proc/{pid}/schedstat") for (pid,) in found]
    return lambda: sum(int(path.read_text().split()[0]) for path in paths if path.exists()) / 1e9


def _least_ms(call: Call, effort: Effort, *, again: bool) -> float:
    """The least processor time of many runs, in milliseconds.

    Args:
        again: the totals of lists that an earlier run has counted are known.
    """
    database, efforts, began = _database_clock(), list[float](), time.perf_counter()
    while len(efforts) < LEAST or (
        len(efforts) < effort.rounds and time.perf_counter() - began < effort.seconds
    ):
        if not again:
            totals.forget_totals()
        before, own = database(), time.process_time()
        call(len(efforts))
        own = time.process_time() - own
        efforts.append((own + database() - before) * 1000)
    return min(efforts)


def _measure(filled: Filled, effort: Effort) -> dict[str, float]:
    """The milliseconds of all cases on one instance."""
    found = {}
    with filled.app.app_context():
        for case in CASES:
            call, began = case.make(filled), time.perf_counter()
            for number in range(WARM):
                call(number)
                if time.perf_counter() - began > 2:
                    break
            found[case.what] = _least_ms(call, effort, again=case.again)
        db.engine.dispose()
    return found


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    """Fill and time an instance of each size, and one with many accounts."""
    columns = {}
    for accounts, full in SIZES if effort is FULL else SIZES[:2]:
        size, url = effort.number(full), new_database()
        name = f"{size:,}" if accounts == 1 else f"{accounts:,} × {size:,}"
        filled = fill(folder / name, url, accounts=accounts, size=size)
        vacuum(url)
        columns[name] = _measure(filled, effort)
    lines = [f"| Milliseconds | {' | '.join(columns)} | Ratio | Target | |"]
    lines.append(f"|---|{'---:|' * (len(columns) + 2)}---|")
    for case in CASES:
        times = [column[case.what] for column in columns.values()]
        ratio = max(times[1:]) / times[0]
        is_met = (max(times) if case.in_ms else ratio) <= case.target
        target = f"≤ {case.target:g}{' ms' if case.in_ms else ''}"
        cells = " | ".join(f"{each:.2f}" for each in times)
        lines.append(f"| {case.what} | {cells} | {ratio:.1f} | {target} | {judged(is_met)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    report.measure(run, __doc__, FULL)
