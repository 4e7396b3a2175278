"""What delivering events costs, and how soon they arrive.

The worker has one core; the receiver, which is Node's HTTPS server, and PostgreSQL have another.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from flask import Flask

from app.account.service import create_account
from app.db.connections import close_all
from app.db.extensions import db
from app.db.migrations import upgrade
from app.db.transactions import transaction
from app.events.outbox import EventActor, emit_event
from app.factory import create_app
from app.models import Delivery, Event, Webhook
from app.security.sealing import seal
from app.security.webhook_signing import new_secret
from app.values import clock
from app.values.ids import new_id
from app.webhooks.deliveries.dispatcher import Dispatcher
from app.webhooks.deliveries.jobs import open_egress
from bench import report
from bench.report import Effort, Row, table
from config import ROOT, load_settings
from tests.node import NODE
from tests.outbound.authority import Authority, make_authority

FULL: Final = Effort(rounds=5, seconds=20.0)
DELIVERIES: Final = 10_000  # a round
POSTS: Final = 4_000  # of a bare loop
THREADS: Final = (1, 16)  # of a bare loop; the faster one counts
WEBHOOKS: Final = 20
PER_SECOND: Final = 200
WARM_UP: Final = 5.0  # seconds in which the worker begins, and hanging ones become known
ARRIVAL_TIMEOUT: Final = 30.0  # seconds until all events must have arrived
ENDPOINTS: Final = 100  # each in an account of its own
HANGING: Final = 10
TURNS: Final = 4


def rates(app: Flask, receiver: Receiver, effort: Effort) -> list[Row]:
    """Deliveries a second, beside bare loops of posts."""
    targets = make_webhooks([f"{receiver.url}/hook/{n}" for n in range(WEBHOOKS)])
    settings, ways = app.config["SETTINGS"], list[Callable[[], float]]()
    posts, number = effort.number(POSTS), effort.number(DELIVERIES)
    body = json.dumps(EVENT).encode()
    with closing(open_egress(settings)) as egress:
        headers = {"Content-Type": "application/json"}

        def post() -> None:
            status = egress.post(f"{receiver.url}/bare", body, headers).status
            if not 200 <= status < 300:
                raise SystemExit(f"The receiver answered {status}.")

        ways += [partial(in_threads, threads, posts, post) for threads in THREADS]
        ways.append(lambda: _deliver(app, targets, number))
        found: list[list[float]] = [[] for _ in ways]
        for turn in range(effort.rounds + 1):
            for place, way in enumerate(ways):
                rate = way()
                if turn:
                    found[place].append(rate)
    medians = [statistics.median(each) for each in found]
    bare, ours = max(medians[:2]), medians[2]
    return [
        Row("deliveries, signed, logged, to 20 webhooks", f"{ours:,.0f}/s", "", 0, "≥ 2,000/s",
            ours >= 2_000),
        Row("the same", f"{ours:,.0f}/s", f"bare loop of the same client {bare:,.0f}/s",
            ours / bare, "≥ 0.50", ours / bare >= 0.5),
    ]  # fmt: skip


def _deliver(app: Flask, targets: list[Target], number: int) -> float:
    """Deliveries a second of one run of the job."""
    queue(targets, number)
    began = time.perf_counter()
    with closing(open_egress(app.config["SETTINGS"])) as egress:
        delivered = Dispatcher(egress, transaction, lambda: False).run(linger=0)
    if delivered != number:
        raise SystemExit(f"{delivered} of {number} were delivered")
    return number / (time.perf_counter() - began)


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
        emit_event("project.created", record | {"name": repr(time.time() * 1000)}, origin)
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


# An event of a project, as long as most are.
EVENT = {
    "type": "project.created",
    "data": {"name": "North slope", "description": "Measured. " * 30, "area_hectares": 12.5},
}


class Receiver:
    """Node's HTTPS server in a process of its own; see ``receiver.mjs`` for its paths."""

    def __init__(self, authority: Authority, *options: str) -> None:
        pem = authority.certificate_for(["localhost", "127.0.0.1"])
        script = Path(__file__).with_name("receiver.mjs")
        self._process = subprocess.Popen(
            [str(NODE), str(script), str(pem), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = f"https://127.0.0.1:{self._answer()}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def received(self) -> Any:
        """What came since this was last asked: a number, or with ``--times`` pairs of a path and
        the milliseconds since the event began to be written, which its name tells."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def environment(folder: Path, authority: Authority, database_url: str) -> dict[str, str]:
    return {
        "INSTANCE_PATH": str(folder),
        "DATABASE_URL": database_url,
        "LOG_LEVEL": "error",
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
        "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
    }


@contextmanager
def application(environ: dict[str, str]) -> Iterator[Flask]:
    """An instance with its tables, in its context."""
    app = create_app(load_settings(environ))
    with app.app_context():
        upgrade()
        yield app
        close_all()


@contextmanager
def worker(environ: dict[str, str], *arguments: str) -> Iterator[int]:
    """A worker as it runs for real. Gives its process's id."""
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "worker.py"), *arguments], env=own | environ, cwd=ROOT
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(15)


Target = tuple[str, str]  # account, webhook


def make_webhooks(urls: Sequence[str]) -> list[Target]:
    """A webhook for each address, each in an account of its own, all known to answer well."""
    made = []
    for number, url in enumerate(urls):
        account = create_account(name=f"Bench {number}", owner_email="b@example.org").account
        moment = clock.now()
        webhook = Webhook(
            id=new_id("webhook"), account_id=account.id, url=url, events=["*"], enabled=True,
            sealed_secret=seal(new_secret()), consecutive_failures=0, last_success_at=moment,
            created_at=moment, updated_at=moment,
        )  # fmt: skip
        db.session.add(webhook)
        made.append((account.id, webhook.id))
    db.session.commit()
    return made


def queue(targets: Sequence[Target], number: int) -> None:
    """So many deliveries, of as many events, for all targets in turn."""
    moment = clock.now()
    events, deliveries = [], []
    for n in range(number):
        account_id, webhook_id = targets[n % len(targets)]
        event_id = new_id("event")
        body = EVENT | {"id": event_id, "created_at": clock.format_time(moment)}
        events.append(
            {
                "id": event_id, "account_id": account_id, "type": EVENT["type"],
                "subject_id": "proj_x", "body": json.dumps(body),
            }
        )  # fmt: skip
        deliveries.append(
            {
                "id": new_id("delivery"), "account_id": account_id, "webhook_id": webhook_id,
                "event_id": event_id, "cause": "event", "state": "pending", "attempts": 0,
                "due_at": moment, "created_at": moment,
            }
        )  # fmt: skip
    db.session.execute(Event.__table__.insert(), events)
    db.session.execute(Delivery.__table__.insert(), deliveries)
    db.session.commit()


def in_threads(threads: int, number: int, call: Callable[[], object]) -> float:
    """Call something so often, by so many threads. Returns calls a second.

    Raises whatever a call raises.
    """

    def loop() -> None:
        for _ in range(number // threads):
            call()

    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(loop) for _ in range(threads)]
    seconds = time.perf_counter() - began
    for each in running:
        each.result()
    return number // threads * threads / seconds


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    os.sched_setaffinity(0, {(os.cpu_count() or 1) - 1})  # where the receiver stays
    folder.mkdir()
    authority = make_authority(folder)
    environ = environment(folder / "instance", authority, new_database())
    with application(environ) as app:
        with Receiver(authority) as receiver:
            os.sched_setaffinity(0, {0})
            rows = rates(app, receiver, effort)
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        with Receiver(authority, "--times") as receiver:
            return table(rows + latencies(receiver, environ, effort))


if __name__ == "__main__":
    report.measure(run, __doc__, FULL)
