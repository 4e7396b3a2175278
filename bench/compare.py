"""The service beside a conventional Flask application and a bare one, in one run.

python -m bench.compare               SQLite
python -m bench.compare --postgres    PostgreSQL, a server of its own
python -m bench.compare --write       written into docs/measured/compare.md too
python -m bench.compare --quick       only sees that it works

Each of the three runs under the same gunicorn, two processes of four threads, and answers eight
kept-alive connections, four on each process. They take turns. ``bench/conventional`` is the second.
Client and servers share all cores.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Final, NamedTuple

from app.processes import embedded
from bench import load, report
from bench.conventional import app as conventional
from bench.delivering import percentile
from bench.effort import QUICK, Effort
from bench.http import headers
from bench.instance import Instance, boundary, make_instance, polygon
from bench.servers import Server, own_worker_class, serve
from bench.wire import connect, fetch
from tests.postgres import PostgresServer

FULL: Final = Effort(rounds=7, seconds=3.0)
PROJECTS: Final = 300
PROCESSES: Final = 2
CONNECTIONS: Final = 8
NAMES: Final = ("Canopy", "conventional", "bare Flask")
ITEM: Final = "one project, 51 positions"
PAGE: Final = "a page of 100"
CREATE: Final = "a new project, 1,000 positions"
SMALL: Final = "a new project, 5 positions"
# How many times the conventional application's rate; a create's p99 must not be longer either.
TARGETS: Final = {ITEM: 2.0, PAGE: 6.6, CREATE: 1.2, SMALL: 1.2}
HEAD: Final = "| What | Server | Requests/s | Canopy vs. this | p50 | p99 | Processor time |"
RULE: Final = "|---|---|---:|---:|---:|---:|---:|"

Requests = Callable[[], Iterable[bytes]]


class Subject(NamedTuple):
    """A server, and what it is asked in each case."""

    server: Server
    cases: dict[str, Requests]


@dataclass
class Measured:
    """One server in one case."""

    rates: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)  # seconds, of all rounds
    cpu: float = 0.0  # seconds of the web processes

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    def milliseconds(self, share: float) -> float:
        return percentile(self.latencies, share) * 1000


def measure(urls: Sequence[str], effort: Effort) -> dict[str, list[Measured]]:
    """All servers in all cases.

    Args:
        urls: the addresses of two new databases of PostgreSQL; none for SQLite.
    """
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        own_url, other_url = urls or ("", f"sqlite:///{folder / 'conventional.sqlite3'}")
        valkey = embedded.ensure(folder / "valkey")
        stack.callback(embedded.release, folder / "valkey")
        begin = partial(start, stack)
        made = make_instance(folder / "instance", database_url=own_url, projects=PROJECTS)
        ours = canopy(begin, made, valkey)
        subjects = [ours, _conventional(begin, other_url, valkey), _bare(begin, folder, ours)]
        return {case: in_turn(subjects, case, effort) for case in ours.cases}


def start(stack: ExitStack, target: str, environ: dict[str, str]) -> Server:
    """A server as all of them are, until ``stack`` is closed."""
    kind = own_worker_class()
    return stack.enter_context(
        serve(target, environ, workers=PROCESSES, worker_class=kind, all_cores=True)
    )


def canopy(begin: Callable[..., Server], made: Instance, valkey: str) -> Subject:
    server = begin("wsgi:app", made.environ | {"REDIS_URL": valkey})
    return Subject(server, _cases(headers(made.key), made.project_ids, "per_page"))


def _conventional(begin: Callable[..., Server], url: str, valkey: str) -> Subject:
    environ = {
        conventional.DATABASE: url.replace("postgresql://", "postgresql+psycopg://"),
        conventional.REDIS: f"redis+{valkey}",
    }
    key, ids = conventional.fill(environ, [boundary(number) for number in range(PROJECTS)])
    server = begin("bench.conventional.wsgi:app", environ)
    return Subject(server, _cases(headers(key), ids, "page_size"))


def _bare(begin: Callable[..., Server], folder: Path, ours: Subject) -> Subject:
    """Its page are the bytes of Canopy's."""
    page = folder / "page.json"
    with connect(ours.server.port) as connection:
        page.write_bytes(fetch(connection, next(iter(ours.cases[PAGE]())))[1])
    server = begin("bench.bare:app", {"BENCH_PAGE": str(page)})
    cases = {
        ITEM: repeated(load.build("GET", "/item", {})),
        PAGE: repeated(load.build("GET", "/page", {})),
        CREATE: partial(_creates, "/item", {}, 1_000),
        SMALL: partial(_creates, "/item", {}, 5),
    }
    return Subject(server, cases)


def _cases(auth: dict[str, str], ids: Sequence[str], size: str) -> dict[str, Requests]:
    path = "/v1/projects"
    return {
        ITEM: repeated(*(load.build("GET", f"{path}/{each}", auth) for each in ids)),
        PAGE: repeated(load.build("GET", f"{path}?{size}=100", auth)),
        CREATE: partial(_creates, path, auth, 1_000),
        SMALL: partial(_creates, path, auth, 5),
    }


def repeated(*requests: bytes) -> Requests:
    """These requests, over and over."""
    return partial(cycle, requests)


_numbers = count(1)  # of the projects that are created


def _creates(path: str, auth: dict[str, str], positions: int) -> Iterator[bytes]:
    """Requests for new projects, no two of which have one name."""
    geometry = json.dumps(polygon(positions)).encode()
    for number in _numbers:
        body = b'{"name":"Measured %d","geometry":%b}' % (number, geometry)
        yield load.build("POST", path, auth, body)


def in_turn(subjects: Sequence[Subject], case: str, effort: Effort) -> list[Measured]:
    """One case on all servers, in alternating rounds after one that warms up."""
    found = [Measured() for _ in subjects]
    for number in range(effort.rounds + 1):
        for (server, cases), measured in zip(subjects, found, strict=True):
            before = server.cpu_seconds()
            outcome = load.run(
                server.port,
                cases[case](),
                connections=CONNECTIONS,
                seconds=effort.seconds,
                processes=server.workers,
            )
            if number:
                measured.rates.append(outcome.rate)
                measured.latencies += outcome.latencies
                measured.cpu += server.cpu_seconds() - before
    return found


def table(cases: dict[str, list[Measured]]) -> str:
    """What was measured, as a Markdown table."""
    lines = [f"{HEAD} Target | |", f"{RULE}---|---|"]
    for case, servers in cases.items():
        _, theirs, _ = servers
        for each, line in zip(servers, rows(case, NAMES, servers), strict=True):
            judged = _judged(case, servers[0], theirs) if each is theirs else ("", "")
            lines.append(f"{line} {judged[0]} | {judged[1]} |")
    return "\n".join(lines)


def rows(case: str, names: Sequence[str], servers: Sequence[Measured]) -> Iterator[str]:
    """A row of a table for each server, of which the first is Canopy."""
    ours = servers[0]
    for name, each in zip(names, servers, strict=True):
        cells = [
            case,
            name,
            f"{each.rate:,.0f}",
            "" if each is ours else f"{ours.rate / each.rate:.2f} ×",
            f"{each.milliseconds(0.5):.1f} ms",
            f"{each.milliseconds(0.99):.1f} ms",
            f"{each.cpu / len(each.latencies) * 1e6:,.0f} µs",
        ]
        yield "| " + " | ".join(cells) + " |"


def _judged(case: str, ours: Measured, theirs: Measured) -> tuple[str, str]:
    """The target of a case, and whether it is met."""
    is_met = ours.rate / theirs.rate >= TARGETS[case]
    target = f"≥ {TARGETS[case]} ×"
    if case in (CREATE, SMALL):
        is_met &= ours.milliseconds(0.99) <= theirs.milliseconds(0.99)
        target += ", p99 no longer"
    return target, "met" if is_met else "**missed**"


def on_sqlite(effort: Effort) -> str:
    return table(measure((), effort))


def on_postgres(effort: Effort) -> str:
    with tempfile.TemporaryDirectory(prefix="canopy-pg-") as folder:
        os.chmod(folder, 0o755)
        with PostgresServer(Path(folder) / "pg") as server:
            return table(measure([server.create_database() for _ in range(2)], effort))


def main() -> None:
    chosen = report.chosen(__doc__)
    effort = QUICK if chosen.quick else FULL
    found = on_postgres(effort) if chosen.postgres else on_sqlite(effort)
    report.publish("compare", chosen, found)


if __name__ == "__main__":
    sys.exit(main())
