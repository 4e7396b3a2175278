"""Queries that were made to be expensive: what each takes until its first byte, and from one piece
to the next; and how long another account waits while the worst of them come at once."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import text

from app.db.queries import connect
from tests.api.server import Server, web_processes
from tests.make import Client, make_account, make_key
from tests.templates import DATABASES
from trials.faults.heavy.load import (
    POSITIONS,
    UNEXPLAINED,
    create,
    flood,
    processor_seconds,
    send,
    watch_others,
    with_children,
)
from trials.faults.heavy.queries import fill_account, queries
from trials.faults.heavy.request import Request
from trials.faults.heavy.trial import AT_ONCE, SECONDS, WORKERS, instance
from trials.faults.trial_report import TrialReport

NAME = "queries"
CREATE_SECONDS = 0.005  # processor time of a create, on a machine to which SECONDS refers
_CREATES = 50
_SHOWN = 15
_BLOCK = 64 * 1024
_TIMEOUT = 120


class Pieces(NamedTuple):
    """The processor time of a response: until it begins, and the longest until its next piece."""

    request: Request
    status: int
    first: float
    longest: float

    @property
    def worst(self) -> float:
        return max(self.first, self.longest)


def report(names: Sequence[str], minutes: float, seed: int) -> Iterator[tuple[bool, str]]:
    """For each database, whether all was right, and the figures, if this trial is among the names.

    Args:
        minutes: for the requests one after the other, on each database.
    """
    for database in DATABASES if NAME in names else ():
        with (
            tempfile.TemporaryDirectory(prefix="canopy-") as folder,
            instance(Path(folder), database) as server,
        ):
            made = run(server, minutes, seed)
        wrong = [f"  WRONG: {line}" for line in made.wrong + made.late]
        head = f"{NAME}: {database}, seed {seed}"
        yield not wrong, "\n".join([head, *made.lines, *wrong])


def run(server: Server, minutes: float, seed: int, seconds: float = 20) -> TrialReport:
    """Send queries one after the other, and then the worst at once.

    Args:
        seconds: for the latter.
    """
    made, workers = TrialReport(), web_processes(server.pid, WORKERS)
    fill_account(server.client)
    other = make_account(server.client.app)
    ordinary = _creates(server, other, workers)
    allowed = SECONDS * max(1.0, ordinary / CREATE_SECONDS)
    found: list[Pieces] = []
    end = time.monotonic() + 60 * minutes
    for request in queries(server.client, random.Random(seed)):
        found.append(_measure(server, workers, request))
        if time.monotonic() > end:
            break
    found.sort(key=lambda each: -each.worst)
    made.lines = [
        f"  a create of {POSITIONS} positions takes {ordinary * 1000:.1f} ms of processor time: "
        f"{allowed:.2f} s allowed",
        f"  {len(found):,} requests one after the other, "
        f"{sum(each.status < 300 for each in found):,} of them answered",
    ]
    for each in found[:_SHOWN]:
        made.lines.append(
            f"    {each.first:5.2f} s, {each.longest:5.2f} s  {each.status}  {each.request.name}"
        )
    for each in found:
        explained = each.status < 500 or each.status == 503
        made.check(explained, f"{each.request.name} was answered {each.status}")
        long = f"{each.request.name} took {each.worst:.2f} s of processor time"
        made.check(each.worst <= allowed, long)
    worst = [each.request for each in found]
    _beside(server, other, f"the worst {AT_ONCE}", worst[:AT_ONCE], seconds, made)
    known = _with_new_keys(server.client, worst)
    _beside(server, other, f"the worst with {AT_ONCE} new keys", known, seconds, made)
    return made


def _with_new_keys(client: Client, worst: Sequence[Request]) -> list[Request]:
    """The worst that takes a key, with others of the account that no web process has seen."""
    request = next(each for each in worst if "Authorization" in each.headers)
    keys = (make_key(client).authorization for _ in range(AT_ONCE))
    return [replace(request, headers={**request.headers, **key}) for key in keys]


def _beside(
    server: Server,
    other: Client,
    name: str,
    worst: Sequence[Request],
    seconds: float,
    made: TrialReport,
) -> None:
    """What another account sees while the worst queries come at once."""
    with flood(server.port, worst) as statuses:
        others = watch_others(server.port, other, seconds)
    shown = ", ".join(f"{number:,} with {each}" for each, number in sorted(statuses.items()))
    made.lines += [f"  beside {name}: {shown}", *others.lines]
    others.judge(made, f"beside {name}")
    made.check(UNEXPLAINED not in statuses, f"5xx without Retry-After: {statuses[UNEXPLAINED]}")


def _creates(server: Server, client: Client, workers: Sequence[int]) -> float:
    """The processor time of a create."""
    before = processor_seconds(_processes(server, workers))
    for _ in range(_CREATES):
        request = create(client)
        assert send(server.port, request, request.make_body()) == 201
    return (processor_seconds(_processes(server, workers)) - before) / _CREATES


def _measure(server: Server, workers: Sequence[int], request: Request) -> Pieces:
    processes = _processes(server, workers)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_TIMEOUT)
    body = request.make_body()
    longest, before = 0.0, processor_seconds(processes)
    with contextlib.closing(connection):
        connection.request(request.method, request.path, body, request.signed(body))
        answer = connection.getresponse()
        used = processor_seconds(_processes(server, workers))
        first, before = used - before, used
        while answer.read1(_BLOCK):
            used = processor_seconds(processes)
            longest, before = max(longest, used - before), used
    return Pieces(request, answer.status, first, longest)


def _processes(server: Server, workers: Sequence[int]) -> list[int]:
    """The web processes, those that they have started, and those of PostgreSQL."""
    found = with_children(workers)
    app = server.client.app
    with app.app_context():
        if app.config["SETTINGS"].uses_sqlite:
            return found
        with connect() as connection:
            rows = connection.execute(text("SELECT pid FROM pg_stat_activity")).scalars().all()
    return found + [pid for pid in rows if os.path.exists(f"/proc/{pid}")]
