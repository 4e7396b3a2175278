"""Requests that were made to be expensive: none takes more than two seconds of processor time until
its first byte or from one piece to the next, and nobody else waits long.

First every body, header and query that is expensive by itself is sent, one after the other;
then some by chance, until the time is over; at last the worst come at once, again and again, while
another account reads and writes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import text

from app.db.connections import close_all
from app.db.queries import reading_connection
from tests.api.server import Server, gunicorn, web_processes
from tests.instances.valkey import valkey
from tests.make import Client, make_account
from tests.make.apps import CHEAP_PASSWORDS
from tests.make.wavy import polygon
from tests.postgres import PostgresServer
from tests.templates import DATABASES
from trials.faults.service import children
from trials.heavy.bodies import bodies
from trials.heavy.queries import fill_account, heads, queries
from trials.heavy.request import Request, flood, sent, status_of
from trials.report import Report, described, percentile, say

WORKERS, THREADS, AT_ONCE = 2, 4, 16
SECONDS, CREATE_SECONDS = 2.0, 0.005  # of processor time; a create takes so much on that machine
HEALTHZ_P99, OTHERS_P99 = 0.1, 1.0  # seconds
_SHOWN = 15
_numbers = itertools.count()  # of names


class Cost(NamedTuple):
    """The processor time of a response: until it begins, and the longest until its next piece."""

    request: Request
    status: int
    first: float
    longest: float

    @property
    def worst(self) -> float:
        return max(self.first, self.longest)


def main() -> int:
    """Exit codes: 0 all is within its bounds, 1 something is not."""
    parser = argparse.ArgumentParser("bin/trials heavy --", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5, help="of requests by chance (5)")
    parser.add_argument("--seed", type=int, default=1, help="what they come from (1)")
    parser.add_argument("--database", choices=DATABASES, help="both by default")
    parser.add_argument("--short", action="store_true", help="some requests; times do not count")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # servers end, too
    failed = 0
    for database in [options.database] if options.database else DATABASES:
        with (
            tempfile.TemporaryDirectory(prefix="canopy-") as folder,
            _instance(Path(folder), database) as server,
        ):
            rng = random.Random(options.seed)
            report = _run(server, rng, options.minutes, is_short=options.short)
        wrong = report.wrong + ([] if options.short else report.late)
        failed += bool(wrong)
        say(f"\n{database}, seed {options.seed}")
        say("\n".join([*report.lines, *(f"  WRONG: {line}" for line in wrong)]))
    return 1 if failed else 0


def _run(server: Server, rng: random.Random, minutes: float, *, is_short: bool) -> Report:
    report, workers = Report(), web_processes(server.pid, WORKERS)
    fill_account(server.client)
    other = make_account(server.client.app)
    ordinary = _creates(server, other, workers)
    allowed = SECONDS * max(1.0, ordinary / CREATE_SECONDS)
    found, ended = list[Cost](), 0.0
    every = itertools.chain(
        bodies(server.client, *([("zigzag",)] if is_short else [])),
        heads(server.client),
    )
    for request in itertools.islice(every, 0, None, 101 if is_short else 1):
        found.append(_measure(server, workers, request))
    ended = time.monotonic() + (10 if is_short else 60 * minutes)
    for request in queries(server.client, rng):
        found.append(_measure(server, workers, request))
        if time.monotonic() > ended:
            break
    found.sort(key=lambda each: -each.worst)
    report.lines = [
        f"  a create takes {ordinary * 1000:.1f} ms of processor time: {allowed:.2f} s allowed",
        f"  {len(found):,} requests, {sum(each.status < 400 for each in found):,} answered well",
        *(
            f"    {each.first:5.2f} s, {each.longest:5.2f} s  {each.status}  {each.request.name}"
            for each in found[:_SHOWN]
        ),
    ]
    strange = [each.request.name for each in found if each.status >= 500 and each.status != 503]
    report.check_none(strange, "requests were answered 5xx")
    for each in found:
        report.check_time(each.request.name, each.worst, allowed)
    worst = [each.request for each in found]
    seconds = 2.0 if is_short else 20.0
    _beside(report, server, other, f"the worst {AT_ONCE}", worst[:AT_ONCE], seconds)
    _beside(report, server, other, "the worst one", worst[:1] * AT_ONCE, seconds)
    return report


@contextmanager
def _instance(folder: Path, database: str) -> Iterator[Server]:
    """The web server as it is shipped, without limits of requests."""
    folder.chmod(0o755)
    with ExitStack() as stack:
        environ = {
            "REDIS_URL": stack.enter_context(valkey(folder)).url,
            "LOG_LEVEL": "warning",
            "RATE_LIMIT_DISABLED": "true",
            "WEB_WORKERS": str(WORKERS),
            "WEB_THREADS": str(THREADS),
            **CHEAP_PASSWORDS,
        }
        if database == "postgresql":
            postgres = stack.enter_context(PostgresServer(folder / "pg"))
            environ["DATABASE_URL"] = postgres.create_database()
        server = stack.enter_context(gunicorn(folder, **environ))
        yield server
        with server.client.app.app_context():
            close_all()


def _create(client: Client) -> Request:
    """A request that creates an ordinary project."""
    values = {"name": f"Forest {next(_numbers)}", "geometry": polygon(51)}
    body = json.dumps(values).encode()
    return Request("create", "POST", "/v1/projects", lambda: body, client.authorization)


def _creates(server: Server, client: Client, workers: Sequence[int]) -> float:
    """The processor time of a create."""
    before = _processor_seconds(_processes(server, workers))
    for _ in range(50):
        assert status_of(server.port, _create(client)) == 201
    return (_processor_seconds(_processes(server, workers)) - before) / 50


def _measure(server: Server, workers: Sequence[int], request: Request) -> Cost:
    processes, body = _processes(server, workers), request.make_body()
    longest, before = 0.0, _processor_seconds(processes)
    with sent(server.port, request, body) as answer:
        used = _processor_seconds(_processes(server, workers))
        first, before = used - before, used
        while answer.read1(64 * 1024):
            used = _processor_seconds(processes)
            longest, before = max(longest, used - before), used
    return Cost(request, answer.status, first, longest)


def _processes(server: Server, workers: Sequence[int]) -> list[int]:
    """The web processes, those that they have started, and those of PostgreSQL."""
    found = [pid for worker in workers for pid in (worker, *children(worker))]
    app = server.client.app
    with app.app_context():
        if app.config["SETTINGS"].uses_sqlite:
            return found
        with reading_connection() as connection:
            rows = connection.execute(text("SELECT pid FROM pg_stat_activity")).scalars().all()
    return found + [pid for pid in rows if os.path.exists(f"/proc/{pid}")]


def _processor_seconds(processes: Sequence[int]) -> float:
    """The processor time of processes, all their threads and ended children together."""
    total = 0
    for pid in processes:
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                total += int(task.read_text().split()[0])
        with suppress(OSError):
            ended = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[13:15]
            total += sum(map(int, ended)) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    return total / 1e9


def _beside(
    report: Report,
    server: Server,
    other: Client,
    name: str,
    worst: Sequence[Request],
    seconds: float,
) -> None:
    """What others see while the worst come at once."""
    kinds: dict[str, Callable[[], Request]] = {
        "GET /healthz": lambda: Request("healthz", "GET", "/healthz"),
        "a read": lambda: Request("read", "GET", "/v1/projects", headers=other.authorization),
        "a create": lambda: _create(other),
    }
    took: dict[str, list[float]] = {kind: [] for kind in kinds}
    with flood(server.port, worst) as statuses:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for kind, make in kinds.items():
                began = time.monotonic()
                status = status_of(server.port, make())
                took[kind].append(time.monotonic() - began)
                report.check(status < 300, f"{kind} beside {name} was answered {status}")
                time.sleep(0.02)
    report.lines.append(f"  beside {name}: {dict(sorted(statuses.items()))}")
    report.check(599 not in statuses, f"{name}: {statuses[599]} 5xx without Retry-After")
    for kind, times in took.items():
        report.lines.append(f"    {kind:12} {described(times)}")
        bound = HEALTHZ_P99 if kind == "GET /healthz" else OTHERS_P99
        report.check_time(f"{kind} (p99) beside {name}", percentile(times, 99), bound)


if __name__ == "__main__":
    sys.exit(main())
