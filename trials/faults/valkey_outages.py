"""Valkey fails under load: what callers see, in figures."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

from flask import Flask

from app.db.connections import close_all
from app.factory import create_app
from config import load_settings
from tests.api.server import Server, gunicorn
from tests.make import Client, make_account
from trials.faults.valkey import Fault, Valkey, valkey

WORKERS, THREADS, CALLERS = 2, 4, 8
SETTLED_SECONDS = 1.0  # after the beginning of a fault; by then every thread has met it
FIRST_MS, KNOWN_MS = 300, 20  # that a request may take longer, over the p99 before the fault
PLANS = "[wide]\nrequests_per_minute = 1000000\n\n[narrow]\nrequests_per_minute = 5\n"


@dataclass
class Seen:
    """What callers saw in one phase."""

    millis: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    limited: int = 0  # answers with the headers of a limit

    @property
    def p50(self) -> float:
        return quantiles(self.millis, n=100)[49]

    @property
    def p99(self) -> float:
        return quantiles(self.millis, n=100)[98]

    @property
    def longest(self) -> float:
        return max(self.millis)

    @property
    def answers(self) -> int:
        return len(self.millis)


@dataclass
class Report:
    """One fault: before it, as it began, once it was known, and after it."""

    fault: Fault
    before: Seen
    first: Seen
    known: Seen
    health: str  # of /api/health while it lasted
    back_seconds: float  # until a limit held again
    began: int  # log lines
    ended: int
    outages: float  # of the metric


class Load:
    """Callers who ask without a pause, each on a connection of its own."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._seen, self._over = Seen(), threading.Event()
        self._threads = [threading.Thread(target=self._call) for _ in range(CALLERS)]
        for thread in self._threads:
            thread.start()

    def phase(self, seconds: float) -> Seen:
        """What is seen from now on, for so long."""
        self._seen = seen = Seen()
        time.sleep(seconds)
        self._seen = Seen()
        return seen

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _call(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        headers = {"Authorization": f"Bearer {self._token}"}
        while not self._over.is_set():
            seen, began = self._seen, time.perf_counter()
            connection.request("GET", "/v1/account", headers=headers)
            answer = connection.getresponse()
            answer.read()
            if seen is not self._seen:  # it belongs to two phases
                continue
            seen.millis.append((time.perf_counter() - began) * 1000)
            seen.statuses[answer.status] += 1
            seen.limited += answer.getheader("X-RateLimit-Limit") is not None
        connection.close()


@contextmanager
def instance(folder: Path) -> Iterator[tuple[Server, Valkey, Flask]]:
    """gunicorn with several processes, its Valkey, and the application on the same database."""
    plans = folder / "plans.toml"
    plans.write_text(PLANS)
    with valkey(folder) as valkey_server:
        environ = {
            "REDIS_URL": valkey_server.url,
            "PLANS_FILE": str(plans),
            "METRICS_TOKEN": "the-metrics-token",
            "LOG_LEVEL": "warning",
            "WEB_WORKERS": str(WORKERS),
            "WEB_THREADS": str(THREADS),
        }
        with gunicorn(folder, **environ) as server:
            app = create_app(load_settings({"INSTANCE_PATH": str(folder)} | environ))
            yield server, valkey_server, app
            with app.app_context():
                close_all()


def run(fault: Fault, folder: Path, seconds: float) -> Report:
    """Bring about one fault for so many seconds, under load."""
    with instance(folder) as (server, valkey_server, app):
        wide, narrow = make_account(app, plan="wide"), make_account(app, plan="narrow")
        load = Load(server.port, wide.token or "")
        try:
            load.phase(1)
            before = load.phase(min(seconds, 3))
            end = fault.begin(valkey_server)
            try:
                first = load.phase(SETTLED_SECONDS)
                known = load.phase(seconds)
                health = _get(server.port, "/api/health").get("status", "")
            finally:
                end()
            back = _seconds_until_back(server.port, narrow, folder)
        finally:
            load.end()
        return Report(
            fault,
            before,
            first,
            known,
            health,
            back,
            *_log_lines(folder),
            _outages(server.port),
        )


def _seconds_until_back(port: int, client: Client, folder: Path) -> float:
    """How long it takes until every process that saw the outage has seen its end, and the sixth
    request of five allowed ones is refused again and again."""
    began = time.monotonic()
    refused = 0
    while refused < 4 * WORKERS * THREADS or len(set(_log_lines(folder))) > 1:
        status, _ = request(port, "/v1/account", client.authorization)
        refused = refused + 1 if status == 429 else 0
        if time.monotonic() - began > 30:
            raise AssertionError("the limits do not hold again")
    return time.monotonic() - began


def _log_lines(folder: Path) -> tuple[int, int]:
    """How many lines tell of the beginning of an outage, and of its end."""
    log = (folder / "gunicorn.log").read_text()
    return log.count("Valkey is down"), log.count("Valkey is back")


def _outages(port: int) -> float:
    _, text = request(port, "/metrics", {"Authorization": "Bearer the-metrics-token"})
    lines = [line for line in text.splitlines() if line.startswith("canopy_valkey_outages_total")]
    return sum(float(line.split()[-1]) for line in lines)


def _get(port: int, path: str) -> Any:
    return json.loads(request(port, path, {})[1])


def request(port: int, path: str, headers: dict[str, str]) -> tuple[int, str]:
    """The status and the body that are answered."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def faults_of(report: Report) -> list[str]:
    """What is wrong with how the service stood it; times excepted, which are for people to read."""
    wrong = []
    statuses = report.before.statuses + report.first.statuses + report.known.statuses
    if set(statuses) != {200}:
        wrong.append(f"statuses {dict(statuses)}")
    if report.before.limited != report.before.answers:
        wrong.append("answers without headers before the fault")
    if report.fault.keeps_limits:
        if report.known.limited != report.known.answers:
            wrong.append("answers without headers, though Valkey could be asked")
        processes, health = range(1), "ok"
    else:
        if report.known.limited:
            wrong.append(f"{report.known.limited} answers with headers while Valkey was down")
        processes, health = range(1, WORKERS + 1), "degraded"  # one may not have been asked
    if report.began not in processes or len({report.began, report.ended, report.outages}) > 1:
        found = (report.began, report.ended, report.outages)
        wrong.append(f"lines of the beginning and of the end, and outages counted: {found}")
    if report.health != health:
        wrong.append(f"health is {report.health}")
    if report.back_seconds > 5:
        wrong.append(f"the limits held again after {report.back_seconds:.1f} s")
    return wrong


def delays_of(report: Report) -> list[str]:
    """Which waits were longer than they may be."""
    late = []
    if report.first.longest - report.before.p99 > FIRST_MS:
        late.append(f"a request waited {report.first.longest:.1f} ms as it began")
    if report.known.p99 - report.before.p99 > KNOWN_MS:
        late.append(f"p99 was {report.known.p99:.1f} ms once it was known")
    return late


def rows(report: Report) -> list[str]:
    """The figures, a line of a table each."""
    return [
        f"{report.fault.name}: {report.fault.description}",
        f"  before        p50 {report.before.p50:6.1f} ms   p99 {report.before.p99:6.1f} ms   "
        f"{report.before.answers:,} responses",
        f"  at first      longest {report.first.longest:6.1f} ms "
        f"({report.first.longest - report.before.p99:+.1f}; +{FIRST_MS} allowed)",
        f"  once known    p50 {report.known.p50:6.1f} ms   p99 {report.known.p99:6.1f} ms "
        f"({report.known.p99 - report.before.p99:+.1f}; +{KNOWN_MS} allowed)   "
        f"{report.known.answers:,} responses, {report.known.limited:,} with limits",
        f"  recovery      limits hold after {report.back_seconds:.2f} s (5 allowed); "
        f"log lines {report.began} + {report.ended} of {WORKERS} processes; health {report.health}",
    ]
