"""How lists keep their speed while an account grows, and beside a thousand other accounts.

python -m bench.growth                     SQLite, the table on standard output
python -m bench.growth --postgres          PostgreSQL, a server of its own
python -m bench.growth --write             written into docs/measured/growth.md too
python -m bench.growth --sizes 1000,100000 other sizes; the ratio is that of the last to the first
python -m bench.growth --seconds 0.01      a shorter time for each case, to see that it works

Everything is asked in-process, through the services, with the statements that requests send, and
measured by the least processor time of many runs, with that of PostgreSQL: other work on the
machine hardly changes it.
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
from pathlib import Path
from typing import Final

from sqlalchemy import text

from app.db import queries
from app.db.extensions import db
from app.lists import totals
from bench import load, query_plans, report
from bench.filling import RARE, Filled, fill
from bench.growth_cases import CASES, Call, deep
from bench.servers import serve

SIZES: Final = (1_000, 100_000, 1_000_000)
MANY: Final = (1_000, 1_000)  # accounts, and projects of each
SECONDS: Final = 0.8  # for one case
LEAST, MOST = 5, 400  # times that a case is run
OVER_HTTP: Final = {  # targets, as ratios
    "over HTTP: first page": 2.0,
    "over HTTP: page 500": 5.0,
    "over HTTP: rare word": 5.0,
    "over HTTP: usage": 2.0,
}
WARM: Final = 8  # PostgreSQL decides after five times which plan it keeps


@dataclass
class Measured:
    """The cases on one database, in milliseconds of processor time, by the name of the column."""

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


def database_clock() -> Callable[[], float]:
    """The processor time, in seconds, that PostgreSQL takes for this database; SQLite takes that of
    this process."""
    if db.engine.dialect.name == "sqlite":
        return lambda: 0.0
    with queries.connect() as connection:
        found = connection.exec_driver_sql(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        )
        paths = [Path(f"/proc/{pid}/schedstat") for (pid,) in found]
    return lambda: sum(int(path.read_text().split()[0]) for path in paths if path.exists()) / 1e9


def least_ms(call: Call, seconds: float, *, again: bool = False) -> tuple[float, float]:
    """The least processor time and the 99th percentile of the time of many runs, in milliseconds.

    Args:
        again: the totals of lists that an earlier run has counted are known.
    """
    database, efforts, times = database_clock(), list[float](), list[float]()
    began = time.perf_counter()
    while len(times) < LEAST or (len(times) < MOST and time.perf_counter() - began < seconds):
        if not again:
            totals.forget()
        started, before, own = time.perf_counter(), database(), time.process_time()
        call(len(times))
        own = time.process_time() - own
        efforts.append((own + database() - before) * 1000)
        times.append((time.perf_counter() - started) * 1000)
    return min(efforts), sorted(times)[int(len(times) * 0.99)]


def measure(
    filled: Filled, into: Measured, column: str, *, seconds: float, plans_too: bool
) -> None:
    """Time all cases on one instance."""
    with filled.app.app_context():
        into.sizes[column] = query_plans.bytes_per_row(filled.size * len(filled.principals))
        for case in CASES:
            call = case.make(filled)
            began = time.perf_counter()
            for number in range(WARM):
                call(number)
                if time.perf_counter() - began > 2:
                    break
            least, worst = least_ms(call, seconds, again=case.again)
            into.add(column, case.what, least)
            if case.what.startswith("create"):
                into.notes.append(f"{column}: {case.what}: 99th percentile {worst:.1f} ms")
            if plans_too and case.plan:
                into.plans += [
                    (case.what, plan) for plan in query_plans.of(partial(call, 0), "run")
                ]
            print(f"{into.database} {column}: {case.what}: {least:.2f} ms", flush=True)
    over_http(filled, into, column)


def over_http(filled: Filled, into: Measured, column: str) -> None:
    """Some of the same over HTTP, one after the other."""
    headers = {"Authorization": f"Bearer {filled.key}"}
    with serve("wsgi:app", filled.environ) as server:
        paths = (
            "/v1/projects",
            f"/v1/projects?page={deep(filled)}",
            f"/v1/projects?search={RARE}",
            "/v1/account/usage",
        )
        for what, path in zip(OVER_HTTP, paths, strict=True):
            requests = [load.build("GET", path, headers)] * 20
            load.one_by_one(server.port, requests)
            runs = []
            for _ in range(5):
                outcome = load.one_by_one(server.port, requests)
                runs.append(outcome.seconds * 1000 / outcome.requests)
            into.add(column, what, statistics.median(runs))


def run(
    database: str, url_of: Callable[[], str], sizes: list[int], many: bool, seconds: float
) -> Measured:
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
                    fresh(filled, measured, column, seconds)
            last = (accounts, size) == (1, sizes[-1])
            measure(filled, measured, column, seconds=seconds, plans_too=last)
            with filled.app.app_context():
                db.engine.dispose()
    return measured


def fresh(filled: Filled, into: Measured, column: str, seconds: float) -> None:
    """A few cases before PostgreSQL has any statistics, which come with VACUUM and ANALYZE."""
    for what in ("first page", "page 500 (of 1,000 projects: the middle page)"):
        call = next(case for case in CASES if case.what == what).make(filled)
        for number in range(WARM):
            call(number)
        least, _ = least_ms(call, seconds)
        into.notes.append(f"{column}: {what}, right after loading: {least:.2f} ms")
    with queries.connect() as connection:
        began = time.perf_counter()
        connection.execute(text("SET statement_timeout = 0"))
        connection.execute(text("VACUUM ANALYZE projects, assets"))
        into.notes.append(f"{column}: VACUUM ANALYZE took {time.perf_counter() - began:.1f} s")
        connection.invalidate()


def page(measured: Measured) -> str:
    """What was measured on one database, in Markdown: times, sizes, other figures and plans."""
    parts = [
        times(measured),
        "Size of each index, in bytes per project:",
        sizes(measured),
        "Other figures:",
        "\n".join(f"- {note}" for note in measured.notes),
        f"The plans at {measured.columns[-2 if '×' in measured.columns[-1] else -1]} projects:",
        *(f"{what}\n\n```\n{plan}\n```" for what, plan in measured.plans),
    ]
    return "\n\n".join(parts)


def times(measured: Measured) -> str:
    """A row for each case: its times, their ratios to the first column, the target."""
    targets = {case.what: case.target for case in CASES} | OVER_HTTP
    in_ms = {case.what for case in CASES if case.in_ms}
    columns = measured.columns
    head = "| What | " + " | ".join(columns) + " | Ratio | Target | |"
    lines = [head, "|---|" + "---:|" * (len(columns) + 2) + "---|"]
    for what, by_column in measured.times.items():
        first = by_column[columns[0]]
        ratios = [by_column[column] / first for column in columns[1:]]
        cells = " | ".join(f"{by_column[column]:.2f}" for column in columns)
        shown = ", ".join(f"{ratio:.1f}" for ratio in ratios[-2:])
        target, unit = targets[what], " ms" if what in in_ms else ""
        compared = [by_column[column] for column in columns] if unit else ratios
        mark = "**missed**" if max(compared, default=0) > target else "met"
        lines.append(f"| {what} | {cells} | {shown} | ≤ {target:g}{unit} | {mark} |")
    return "\n".join(lines)


def sizes(measured: Measured) -> str:
    names = sorted({name for by_name in measured.sizes.values() for name in by_name})
    lines = ["| | " + " | ".join(measured.columns) + " |",
             "|---|" + "---:|" * len(measured.columns)]  # fmt: skip
    for name in names:
        cells = " | ".join(
            f"{measured.sizes[column].get(name, 0):,.0f}" for column in measured.columns
        )
        lines.append(f"| `{name}` | {cells} |")
    return "\n".join(lines)


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
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one case")
    parser.add_argument("--alone", action="store_true", help="without the thousand accounts")
    parser.add_argument("--write", action="store_true", help="write into docs/measured/ too")
    chosen = parser.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    name = "PostgreSQL" if chosen.postgres else "SQLite"
    with databases(chosen.postgres) as url_of:
        measured = run(name, url_of, sizes, not chosen.alone, chosen.seconds)
    report.publish("growth", chosen, page(measured))


if __name__ == "__main__":
    sys.exit(main())
