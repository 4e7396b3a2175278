"""The service beside conventional Flask applications and a bare one, in one run.

Each runs under the same gunicorn, two processes of four threads, and answers eight kept-alive
connections. They take turns. Client and servers share all cores.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Final, NamedTuple

from app.processes import embedded_valkey
from bench import conventional, load, report
from bench.instance import Instance, authorization, boundary, make_instance
from bench.report import Effort, judged
from bench.servers import Server, serve
from tests.make.wavy import polygon

FULL: Final = Effort(rounds=7, seconds=3.0)
PROJECTS: Final = 300
PROCESSES: Final = 2
CONNECTIONS: Final = 8
CANOPY: Final = "Canopy"
CONVENTIONAL: Final = "conventional"
BARE: Final = "bare Flask"
ITEM: Final = "one project, 51 positions"
PAGE: Final = "a page of 100"
CREATE: Final = "a new project, 51 positions"
LARGE: Final = "a new project, 1,000 positions"
# How many times the rate of another; for what is created also of its processor time, and a p99 that
# is no longer.
TARGETS: Final = {
    (ITEM, CONVENTIONAL): 2.5,
    (ITEM, BARE): 0.45,
    (PAGE, CONVENTIONAL): 8.0,
    (PAGE, BARE): 0.3,
    (CREATE, CONVENTIONAL): 1.0,
    (LARGE, CONVENTIONAL): 1.2,
}
HEAD: Final = (
    "| What | Server | Requests/s | Canopy vs. this | p50 | p99 | Processor time | by it |"
)
RULE: Final = "|---|---|---:|---:|---:|---:|---:|---:|"

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
        return sorted(self.latencies)[int(len(self.latencies) * share)] * 1000

    @property
    def microseconds(self) -> float:
        """Of processor time, for a request."""
        return self.cpu / len(self.latencies) * 1e6


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    """All servers in all cases, as a table."""
    folder.mkdir()
    with ExitStack() as stack:
        own_url = new_database()
        other_url = new_database() or f"sqlite:///{folder / 'conventional'}.sqlite3"
        valkey = embedded_valkey.ensure_valkey(folder / "valkey")
        stack.callback(embedded_valkey.release_valkey, folder / "valkey")
        begin = partial(start, stack)
        made = make_instance(folder / "instance", database_url=own_url, projects=PROJECTS)
        ours = canopy(begin, made, valkey)
        subjects = {
            CANOPY: ours,
            CONVENTIONAL: _conventional(begin, other_url, valkey),
            BARE: _bare(begin, folder, ours),
        }
        found = {}
        for case in ours.cases:
            measured = in_turn(list(subjects.values()), case, effort)
            found[case] = dict(zip(subjects, measured, strict=True))
        return table(found)


def start(stack: ExitStack, target: str, environ: dict[str, str]) -> Server:
    """A server as all of them are, until ``stack`` is closed."""
    return stack.enter_context(serve(target, environ, workers=PROCESSES, all_cores=True))


def canopy(begin: Callable[..., Server], made: Instance, valkey: str) -> Subject:
    server = begin("wsgi:app", made.environ | {"REDIS_URL": valkey})
    return Subject(server, _cases(made.headers, made.project_ids, "per_page"))


def _conventional(begin: Callable[..., Server], url: str, valkey: str) -> Subject:
    environ = {
        conventional.DATABASE: url.replace("postgresql://", "postgresql+psycopg://"),
        conventional.REDIS: f"redis+{valkey}",
    }
    key, ids = conventional.fill(environ, [boundary(number) for number in range(PROJECTS)])
    server = begin("bench.conventional:create_app()", environ)
    return Subject(server, _cases(authorization(key), ids, "page_size"))


def _bare(begin: Callable[..., Server], folder: Path, ours: Subject) -> Subject:
    """Its page are the bytes of Canopy's."""
    page = folder / "page.json"
    page.write_bytes(load.fetch(ours.server.port, next(iter(ours.cases[PAGE]()))))
    server = begin("bench.bare:app", {"BENCH_PAGE": str(page)})
    cases = {
        ITEM: repeated(load.build("GET", "/item", {})),
        PAGE: repeated(load.build("GET", "/page", {})),
        CREATE: partial(_creates, "/item", {}, 51),
        LARGE: partial(_creates, "/item", {}, 1_000),
    }
    return Subject(server, cases)


def _cases(auth: dict[str, str], ids: Sequence[str], size: str) -> dict[str, Requests]:
    path = "/v1/projects"
    return {
        ITEM: repeated(*(load.build("GET", f"{path}/{each}", auth) for each in ids)),
        PAGE: repeated(load.build("GET", f"{path}?{size}=100", auth)),
        CREATE: partial(_creates, path, auth, 51),
        LARGE: partial(_creates, path, auth, 1_000),
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
                server.port, cases[case](), connections=CONNECTIONS, seconds=effort.seconds
            )
            if number:
                measured.rates.append(outcome.rate)
                measured.latencies += outcome.latencies
                measured.cpu += server.cpu_seconds() - before
    return found


def table(cases: dict[str, dict[str, Measured]]) -> str:
    """What was measured, as a Markdown table."""
    lines = [f"{HEAD} Target | |", f"{RULE}---|---|"]
    for case, servers in cases.items():
        shown = rows(case, list(servers), list(servers.values()))
        for (name, theirs), line in zip(servers.items(), shown, strict=True):
            lines.append(f"{line} {_judged(case, name, servers[CANOPY], theirs)} |")
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
            f"{each.microseconds:,.0f} µs",
            "" if each is ours else f"{each.microseconds / ours.microseconds:.2f} ×",
        ]
        yield "| " + " | ".join(cells) + " |"


def _judged(case: str, name: str, ours: Measured, theirs: Measured) -> str:
    """The target of Canopy beside another server, and whether it is met."""
    if (factor := TARGETS.get((case, name))) is None:
        return "|"
    is_met = ours.rate / theirs.rate >= factor
    target = f"≥ {factor} ×"
    if case in (CREATE, LARGE):
        is_met &= theirs.microseconds / ours.microseconds >= factor
        is_met &= ours.milliseconds(0.99) <= theirs.milliseconds(0.99)
        target += " by both, p99 no longer"
    return f"{target} | {judged(is_met)}"


if __name__ == "__main__":
    report.measure(run, __doc__, FULL)
