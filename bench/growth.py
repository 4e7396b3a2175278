"""How lists keep their speed while an account grows, and beside a thousand other accounts.

python -m bench.growth                     SQLite, the table on standard output
python -m bench.growth --postgres          PostgreSQL, a server of its own
python -m bench.growth --write             the same written into docs/growth.md
python -m bench.growth --sizes 1000,100000 other sizes; the ratio is that of the last to the first

Everything is asked in-process, through the services, with the statements that requests send.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

from sqlalchemy import text

from app.core.geometry import Bounds
from app.extensions import db
from app.projects.listing import ProjectQuery, list_projects
from app.projects.service import create_project, read_project
from app.usage.service import statistics as usage_statistics
from bench import growth_report, load, plans
from bench.filling import EAST, FREQUENT, NORTH, RARE, RARE_COUNT, SOUTH, WEST, Filled, fill
from bench.servers import serve

SIZES: Final = (1_000, 100_000, 1_000_000)
MANY: Final = (1_000, 1_000)  # accounts, and projects of each
SECONDS: Final = 0.8  # for one case
LEAST, MOST = 5, 400  # times that a case is run
WARM: Final = 8  # PostgreSQL decides after five times which plan it keeps

_numbers = count(1)  # of the projects that are created while measuring

Call = Callable[[int], Any]


@dataclass(frozen=True)
class Case:
    """Something that is timed: what, its target (a ratio), and how to make the call of a size."""

    what: str
    target: float | None
    make: Callable[[Filled], Call]
    plan: bool = False  # whether its plans are printed


@dataclass
class Measured:
    """The medians of the cases on one database, in milliseconds, by the name of the column."""

    database: str
    columns: list[str] = field(default_factory=list)
    times: dict[str, dict[str, float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    plans: list[tuple[str, str]] = field(default_factory=list)
    sizes: dict[str, dict[str, float]] = field(default_factory=dict)  # bytes a row, by index

    def add(self, column: str, what: str, milliseconds: float) -> None:
        if column not in self.columns:
            self.columns.append(column)
        self.times.setdefault(what, {})[column] = milliseconds


def listing(**query: Any) -> Callable[[Filled], Call]:
    """Lists asked in turn by the first accounts, so that no run finds all in its caches."""

    def make(filled: Filled) -> Call:
        wanted = {
            name: value(filled) if callable(value) else value for name, value in query.items()
        }
        asked = ProjectQuery(**wanted)
        ids = [each.account_id for each in filled.principals[:50]]
        return lambda number: list_projects(ids[number % len(ids)], asked)

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
            records, _ = list_projects(each.account_id, ProjectQuery(page=page))
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


def using(filled: Filled) -> Call:
    ids = [each.account_id for each in filled.principals]
    return lambda number: usage_statistics(ids[number % len(ids)], "enterprise")


LONG: Final = " ".join(f"{word} {number}" for number, word in enumerate(["parcel"] * 900))[:10_000]
ORDERS: Final = [
    (sort, order) for sort in ("created_at", "name", "area_hectares") for order in ("asc", "desc")
]
CASES: Final = [
    Case("item read", 2, reading),
    Case("first page", 2, listing(), plan=True),
    Case("page 500 (of 1,000 projects: the middle page)", 5, listing(page=deep), plan=True),
    Case("middle page", None, listing(page=lambda filled: max(filled.size // 40, 1))),
    Case("last page", 2, listing(page=lambda filled: filled.size // 20)),
    *(Case(f"sorted by {sort}, {order}", 2, listing(sort=sort, order=order),
           plan=(sort, order) == ("area_hectares", "desc"))
      for sort, order in ORDERS if (sort, order) != ("created_at", "desc")),
    *(Case(f"status {status}, by {sort}, {order}", 2,
           listing(status=status, sort=sort, order=order),
           plan=(status, sort, order) == ("draft", "name", "asc"))
      for status in ("active", "draft") for sort, order in ORDERS),
    Case(f"search: rare word ({RARE_COUNT} found)", 5, listing(search=RARE), plan=True),
    Case("search: rare word, by area", 5, listing(search=RARE, sort="area_hectares")),
    Case("search: no such word", 5, listing(search="xylophone")),
    Case("search: frequent word (a third)", None, listing(search=FREQUENT), plan=True),
    Case("search: frequent word, page 500", None,
         listing(search=FREQUENT, page=lambda filled: min(500, filled.size // 80))),
    Case("search: frequent word, draft, by name", None,
         listing(search=FREQUENT, status="draft", sort="name")),
    Case("search: 2 characters, in half of all", None, listing(search="oa"), plan=True),
    Case("search: 2 characters, in none", None, listing(search="zx")),
    Case("search: 1 character, in nearly all", None, listing(search="e")),
    Case("box of some 20 projects", 5, listing(bbox=small_box), plan=True),
    Case("box of some 20 projects, with a frequent word", None,
         listing(bbox=small_box, search=FREQUENT)),
    Case("box of the whole world", None, listing(bbox=Bounds(-180, -90, 180, 90))),
    Case("box of the whole world, with a rare word", 5,
         listing(bbox=Bounds(-180, -90, 180, 90), search=RARE), plan=True),
    Case("create", 2, creating("A new stand of oak and beech above the river.")),
    Case("create, with a description of 10,000 characters", 2, creating(LONG)),
    Case("usage", 2, using),
]  # fmt: skip


def median_ms(call: Call) -> tuple[float, float]:
    """The median and the 99th percentile of many runs, in milliseconds."""
    runs: list[float] = []
    began = time.perf_counter()
    while len(runs) < LEAST or (len(runs) < MOST and time.perf_counter() - began < SECONDS):
        before = time.perf_counter()
        call(len(runs))
        runs.append((time.perf_counter() - before) * 1000)
    return statistics.median(runs), sorted(runs)[int(len(runs) * 0.99)]


def measure(filled: Filled, into: Measured, column: str, *, plans_too: bool) -> None:
    """Time all cases on one instance."""
    with filled.app.app_context():
        into.sizes[column] = plans.bytes_per_row(filled.size * len(filled.principals))
        for case in CASES:
            call = case.make(filled)
            began = time.perf_counter()
            for number in range(WARM):
                call(number)
                if time.perf_counter() - began > 2:
                    break
            middle, worst = median_ms(call)
            into.add(column, case.what, middle)
            if case.what.startswith("create"):
                into.notes.append(f"{column}: {case.what}: 99th percentile {worst:.1f} ms")
            if plans_too and case.plan:
                into.plans += [(case.what, plan) for plan in plans.of(partial(call, 0), "run")]
            print(f"{into.database} {column}: {case.what}: {middle:.2f} ms", flush=True)
    over_http(filled, into, column)


def over_http(filled: Filled, into: Measured, column: str) -> None:
    """Some of the same over HTTP, one after the other."""
    headers = {"Authorization": f"Bearer {filled.key}"}
    with serve("wsgi:app", filled.environ) as server:
        for what, path in (
            ("over HTTP: first page", "/v1/projects"),
            ("over HTTP: page 500", f"/v1/projects?page={deep(filled)}"),
            ("over HTTP: rare word", f"/v1/projects?search={RARE}"),
            ("over HTTP: usage", "/v1/account/usage"),
        ):
            requests = [load.build("GET", path, headers)] * 20
            load.one_by_one(server.port, requests)
            runs = []
            for _ in range(5):
                before = time.perf_counter()
                if set(load.one_by_one(server.port, requests)) != {200}:
                    raise SystemExit(f"{path} was refused")
                runs.append((time.perf_counter() - before) * 1000 / len(requests))
            into.add(column, what, statistics.median(runs))


def run(database: str, url_of: Callable[[], str], sizes: list[int], many: bool) -> Measured:
    """Fill and time an instance of each size, and one with many accounts."""
    measured = Measured(database)
    shapes = [(1, size) for size in sizes] + ([MANY] if many else [])
    for accounts, size in shapes:
        column = f"{size:,}" if accounts == 1 else f"{accounts:,} × {size:,}"
        with tempfile.TemporaryDirectory(prefix="canopy-growth-") as folder:
            filled = fill(Path(folder) / "instance", url_of(), accounts=accounts, size=size)
            measured.notes.append(f"{column}: filled in {filled.seconds:.0f} s")
            if database == "PostgreSQL":
                with filled.app.app_context():
                    fresh(filled, measured, column)
            measure(filled, measured, column, plans_too=(accounts, size) == (1, sizes[-1]))
            with filled.app.app_context():
                db.engine.dispose()
    return measured


def fresh(filled: Filled, into: Measured, column: str) -> None:
    """A few cases before PostgreSQL has any statistics, which come with VACUUM and ANALYZE."""
    for what in ("first page", "page 500 (of 1,000 projects: the middle page)"):
        call = next(case for case in CASES if case.what == what).make(filled)
        for number in range(WARM):
            call(number)
        middle, _ = median_ms(call)
        into.notes.append(f"{column}: {what}, right after loading: {middle:.2f} ms")
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        began = time.perf_counter()
        connection.execute(text("SET statement_timeout = 0"))
        connection.execute(text("VACUUM ANALYZE projects"))
        into.notes.append(f"{column}: VACUUM ANALYZE took {time.perf_counter() - began:.1f} s")
        connection.invalidate()


@contextmanager
def databases(postgres: bool) -> Iterator[Callable[[], str]]:
    """What gives the address of a new database: empty for SQLite, which lies in the instance."""
    if not postgres:
        yield lambda: ""
        return
    from tests.postgres import PostgresServer

    with tempfile.TemporaryDirectory(prefix="canopy-pg-") as folder:
        os.chmod(folder, 0o755)
        with PostgresServer(Path(folder) / "pg") as server:
            yield server.create_database


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--postgres", action="store_true", help="measure on PostgreSQL")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="projects of an account")
    parser.add_argument("--alone", action="store_true", help="without the thousand accounts")
    parser.add_argument("--write", action="store_true", help="write into docs/growth.md")
    chosen = parser.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    name = "PostgreSQL" if chosen.postgres else "SQLite"
    with databases(chosen.postgres) as url_of:
        measured = run(name, url_of, sizes, not chosen.alone)
    targets = {case.what: case.target for case in CASES}
    page = growth_report.page(measured, targets)
    if chosen.write:
        growth_report.write(name, page)
    print(page)


if __name__ == "__main__":
    sys.exit(main())
