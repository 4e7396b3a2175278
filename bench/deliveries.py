"""What delivering events costs, and how soon they arrive.

python -m bench.deliveries              SQLite
python -m bench.deliveries --postgres   PostgreSQL, a server of its own
python -m bench.deliveries --write      written into docs/measured/deliveries.md too
python -m bench.deliveries --quick      only sees that it works

The worker has one core; the receiver, which is Node's HTTPS server, and PostgreSQL have another.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import urllib3
from flask import Flask
from redis import Redis
from rq import Queue, SimpleWorker
from rq.serializers import JSONSerializer
from sqlalchemy import Engine, event
from sqlalchemy.engine import Dialect

from app.db.extensions import db
from app.db.queries import CompiledStatement, CompiledText
from app.db.transactions import transaction
from app.events.outbox import EventActor, emit
from app.jobs.valkey import valkey
from app.values import clock
from app.webhooks.deliveries.dispatcher import Dispatcher
from app.webhooks.deliveries.jobs import open_egress
from bench import report
from bench.delivering import (
    EVENT,
    Receiver,
    Target,
    application,
    environment,
    in_threads,
    make_webhooks,
    percentile,
    queue,
    worker,
)
from bench.effort import QUICK, Effort
from bench.http import Row
from tests.outbound.authority import Authority, make_authority
from tests.postgres import PostgresServer

FULL: Final = Effort(rounds=5, seconds=20.0)
DELIVERIES: Final = 10_000  # a round
POSTS: Final = 4_000  # of a bare loop
JOBS: Final = 300
THREADS: Final = (1, 16)  # of a bare loop; the faster one counts
WEBHOOKS: Final = 20
PER_SECOND: Final = 200
WARM_UP: Final = 5.0  # seconds in which the worker begins, and hanging ones become known
ARRIVAL_TIMEOUT: Final = 30.0  # seconds until all events must have arrived
ENDPOINTS: Final = 100  # each in an account of its own
HANGING: Final = 10
TURNS: Final = 4


def rates(app: Flask, receiver: Receiver, authority: Authority, effort: Effort) -> list[Row]:
    """Deliveries a second, beside bare loops of posts and one job for each delivery."""
    targets = make_webhooks([f"{receiver.url}/hook/{n}" for n in range(WEBHOOKS)])
    settings, ways = app.config["SETTINGS"], []
    posts, number = effort.number(POSTS), effort.number(DELIVERIES)
    body = json.dumps(EVENT).encode()
    pool = urllib3.PoolManager(ca_certs=str(authority.ca_path), maxsize=max(THREADS))
    with closing(open_egress(settings)) as egress:
        for client in (
            lambda: egress.post(f"{receiver.url}/bare", body, {"Content-Type": "application/json"}),
            lambda: pool.request("POST", f"{receiver.url}/bare", body=body),
        ):
            for threads in THREADS:
                ways.append(lambda c=client, t=threads: in_threads(t, posts, _successful(c)))
        ways.append(lambda: _deliver(app, targets, number))
        found: list[list[float]] = [[] for _ in ways]
        for turn in range(effort.rounds + 1):
            for place, way in enumerate(ways):
                rate = way()
                if turn:
                    found[place].append(rate)
    medians = [statistics.median(each) for each in found]
    bare, bare_urllib3, ours = max(medians[:2]), max(medians[2:4]), medians[4]
    statements = _count_statements(lambda: _deliver(app, targets, number)) / number
    jobs = _one_job_each(targets, effort.number(JOBS))
    return [
        Row("deliveries, signed, logged, to 20 webhooks", f"{ours:,.0f}/s", "", 0, "≥ 2,000/s",
            ours >= 2_000),
        Row("the same", f"{ours:,.0f}/s", f"bare loop of the same client {bare:,.0f}/s",
            ours / bare, "≥ 0.50", ours / bare >= 0.5),
        Row("the same", f"{ours:,.0f}/s", f"bare loop of urllib3 {bare_urllib3:,.0f}/s",
            ours / bare_urllib3, "", None),
        Row("the same", f"{ours:,.0f}/s", f"one RQ job for each, not forked {jobs:,.0f}/s",
            ours / jobs, "≥ 10", ours / jobs >= 10),
        Row("statements of one delivery, counted at the driver", f"{statements:.3f}", "",
            statements, "≤ 0.2", statements <= 0.2),
    ]  # fmt: skip


def _successful(post: Callable[[], Any]) -> Callable[[], None]:
    """A post whose answer must be 2xx. Raises SystemExit."""

    def checked() -> None:
        status = post().status
        if not 200 <= status < 300:
            raise SystemExit(f"The receiver answered {status}.")

    return checked


def _deliver(app: Flask, targets: list[Target], number: int) -> float:
    """Deliveries a second of one run of the job."""
    queue(targets, number)
    began = time.perf_counter()
    with closing(open_egress(app.config["SETTINGS"])) as egress:
        delivered = Dispatcher(egress, transaction, lambda: False).run(linger=0)
    if delivered != number:
        raise SystemExit(f"{delivered} of {number} were delivered")
    return number / (time.perf_counter() - began)


def _count_statements(call: Callable[[], object]) -> int:
    """Statements but for those that fill, through SQLAlchemy or past it; one for many rows counts
    once."""
    count, compiled_for = 0, CompiledStatement.compiled_for

    def note(_: object, __: object, statement: str, *___: object) -> None:
        nonlocal count
        count += not statement.startswith(("BEGIN", "INSERT INTO events", "INSERT INTO deliveries"))

    def noted(statement: CompiledStatement, dialect: Dialect) -> CompiledText:
        found = compiled_for(statement, dialect)
        note(None, None, found.text)
        return found

    event.listen(Engine, "before_cursor_execute", note)
    CompiledStatement.compiled_for = noted  # type: ignore[method-assign]
    try:
        call()
    finally:
        CompiledStatement.compiled_for = compiled_for  # type: ignore[method-assign]
        event.remove(Engine, "before_cursor_execute", note)
    return count


def _one_job_each(targets: list[Target], number: int) -> float:
    """Jobs a second that send one delivery each and write down how it went."""
    queue(targets, number)
    connection: Redis = valkey().client
    jobs = Queue("bench", connection=connection, serializer=JSONSerializer)
    for _ in range(number):
        jobs.enqueue("bench.one_job.deliver_one", result_ttl=0)
    runner = SimpleWorker([jobs], connection=connection, serializer=JSONSerializer)
    began = time.perf_counter()
    runner.work(burst=True, logging_level="ERROR")
    took = time.perf_counter() - began
    if failed := jobs.failed_job_registry.get_job_ids():
        job = jobs.fetch_job(failed[0])
        raise SystemExit(f"{len(failed)} jobs failed; one of them: {job and job.exc_info}")
    return number / took


def arrivals(
    receiver: Receiver, environ: dict[str, str], effort: Effort, *, hanging: int = 0
) -> list[float]:
    """Milliseconds from event to receipt, at a steady rate, with a worker as it runs for real."""
    urls = [f"{receiver.url}/hook/{n}" for n in range(ENDPOINTS)]
    urls[:hanging] = [f"{receiver.url}/wait/30000/{n}" for n in range(hanging)]
    targets = make_webhooks(urls)
    with worker(environ, "--queue", "canopy-deliveries"):
        _arrived(receiver, _emit(targets, min(WARM_UP, 20 * effort.seconds)), hanging)
        return _arrived(receiver, _emit(targets, effort.seconds), hanging)


def _arrived(receiver: Receiver, sent: int, hanging: int) -> list[float]:
    """Milliseconds from event to receipt, of the events for the webhooks that do not hang."""
    expected = sum(number % ENDPOINTS >= hanging for number in range(sent))
    times: list[float] = []
    deadline = time.monotonic() + ARRIVAL_TIMEOUT
    while len(times) < expected:
        if time.monotonic() > deadline:
            raise SystemExit(f"{len(times)} arrived instead of {expected}")
        time.sleep(0.2)
        times += [ms for path, ms in receiver.received() if path.startswith("/hook")]
    return times


def _emit(targets: list[Target], seconds: float) -> int:
    """Events of all targets in turn, at a steady rate, each in a transaction of its own.

    Returns how many.
    """
    events = round(seconds * PER_SECOND)
    record = {
        "id": "proj_x", "slug": "north-slope", "status": "active", "updated_at": None,
        "external_id": None, "metadata": {},
        "created_at": clock.format_time(clock.now()), **EVENT["data"],
    }  # fmt: skip
    began = time.perf_counter()
    for number in range(events):
        pause = began + number / PER_SECOND - time.perf_counter()
        if pause > 0:
            time.sleep(pause)
        account_id, _ = targets[number % len(targets)]
        origin = EventActor(account_id, "Bench", "user_x", "b@example.org")
        emit("project.created", record | {"name": repr(time.time() * 1000)}, origin)
        db.session.commit()
    return events


def latencies(receiver: Receiver, environ: dict[str, str], effort: Effort) -> list[Row]:
    """From event to receipt, with and without endpoints that hang, in turns."""
    alone: list[list[float]] = []
    beside: list[list[float]] = []
    for _ in range(effort.number(TURNS)):
        alone.append(arrivals(receiver, environ, effort))
        beside.append(arrivals(receiver, environ, effort, hanging=HANGING))
    half = statistics.median(percentile(times, 0.5) for times in alone)
    most = statistics.median(percentile(times, 0.99) for times in alone)
    moved = statistics.median(percentile(times, 0.99) for times in beside)
    return [
        Row(f"event to receipt at {PER_SECOND} events/s, p50", f"{half:.1f} ms", "", 0, "≤ 50 ms",
            half <= 50),
        Row("the same, p99", f"{most:.1f} ms", "", 0, "≤ 500 ms", most <= 500),
        Row(f"p99 of the others while {HANGING} of {ENDPOINTS} endpoints hang", f"{moved:.1f} ms",
            f"without them {most:.1f} ms", moved / most, "< 1.10", moved / most < 1.1),
    ]  # fmt: skip


def measure(database_url: str, folder: Path, effort: Effort) -> list[Row]:
    authority = make_authority(folder)
    environ = environment(folder / "instance", authority, database_url)
    with application(environ) as app:
        with Receiver(authority) as receiver:
            os.sched_setaffinity(0, {0})
            rows = rates(app, receiver, authority, effort)
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        with Receiver(authority, "--times") as receiver:
            return rows + latencies(receiver, environ, effort)


def on_sqlite(effort: Effort) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name:
        return measure("", Path(name), effort)


def on_postgres(effort: Effort) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name:
        os.chmod(name, 0o755)
        with PostgresServer(Path(name) / "pg") as server:
            return measure(server.create_database(), Path(name), effort)


def main() -> None:
    chosen = report.chosen(__doc__)
    os.sched_setaffinity(0, {(os.cpu_count() or 1) - 1})  # where the receiver and PostgreSQL stay
    effort = QUICK if chosen.quick else FULL
    rows = on_postgres(effort) if chosen.postgres else on_sqlite(effort)
    report.publish("deliveries", chosen, report.table(rows))


if __name__ == "__main__":
    main()
