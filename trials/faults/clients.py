"""Bursts against a limit, and hundreds of clients that send, or read, a byte at a time."""

from __future__ import annotations

import http.client
import itertools
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from app.db.connections import close_all
from app.factory import create_app
from app.policy.rate_limits import STANDARD
from config import ROOT, load_settings
from tests.api.server import gunicorn
from tests.instances.valkey import valkey
from tests.make import Client, make_account, make_project, together
from tests.make.wavy import polygon
from trials.faults.traffic import Reader, local
from trials.report import Report, described, percentile

REQUESTS, CONNECTIONS = 1000, 8  # of a burst
PLAN_LIMIT, TIER_LIMIT = 100, STANDARD.requests
SLOW = 500  # clients
BOUND = 2.0  # times the p99 of a client alone
_PLANS: Final = f"""
[hundred]
requests_per_minute = {PLAN_LIMIT}
[wide]
requests_per_minute = 1_000_000
requests_per_day = 100_000_000
"""


def burst(_: str, folder: Path, is_short: bool) -> Report:
    """Send a thousand requests at once: exactly as many pass as a limit allows."""
    runs = 2 if is_short else 20
    with _instance(folder, WEB_WORKERS="3", TRUSTED_PROXIES="1") as (port, accounts):
        found = []
        for run in range(runs):
            address = {"X-Forwarded-For": f"198.51.100.{run}"}  # another client in each run
            headers = next(accounts).authorization | address
            by_plan = _burst(port, "GET", "/v1/account", headers)
            by_tier = _burst(port, "POST", "/api/onboarding/validate-slug", address)
            found.append((by_plan[200], by_tier[200]))
    exact = found.count((PLAN_LIMIT, TIER_LIMIT))
    report = Report([f"  exactly {PLAN_LIMIT} and {TIER_LIMIT} passed in {exact} of {runs} runs"])
    report.check(exact == runs, f"passed: {found}")
    return report


def _burst(port: int, method: str, path: str, headers: dict[str, str]) -> Counter[int]:
    body = b'{"slug": "green-woods"}' if method == "POST" else None
    sent = headers | ({"Content-Type": "application/json"} if body else {})
    numbers = itertools.count()

    def caller() -> Counter[int]:
        statuses: Counter[int] = Counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while next(numbers) < REQUESTS:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            answer.read()
            statuses[answer.status] += 1
        connection.close()
        return statuses

    return sum(together(*[caller] * CONNECTIONS), Counter())


def slow_clients(_: str, folder: Path, is_short: bool) -> Report:
    """Let a client ask alone, and then beside 500 that send, or read, a byte a second, in turns."""
    rounds, seconds = (1, 3.0) if is_short else (4, 22.0)  # longer than a slow one is waited for
    report, outcomes = Report(), Counter[str]()
    alone, beside = list[float](), list[float]()
    with _instance(folder, WEB_WORKERS="2", WEB_THREADS="4") as (port, accounts):
        client = next(accounts)
        make_project(client, geometry=polygon(20_000))
        _close(client)
        _call(report, port, client, min(seconds, 3))
        for _ in range(rounds):
            alone += _call(report, port, client, seconds)
            with _dripping(port, client.token or "", outcomes):
                time.sleep(2)  # until all are connected
                beside += _call(report, port, client, seconds)
    p99, slow_p99 = percentile(alone, 99), percentile(beside, 99)
    report.lines += [
        f"  a client alone  {described(alone)}",
        f"  beside them     {described(beside)}: p99 {slow_p99 / p99:.2f} times as long",
        f"  the slow ones   {dict(sorted(outcomes.items()))}",
    ]
    connected = outcomes["open at the end"] / rounds
    report.check(connected > 0.9 * SLOW, f"only {connected:.0f} were slow")
    report.check_time("p99 beside them", slow_p99, BOUND * p99)
    return report


def _call(report: Report, port: int, client: Client, seconds: float) -> list[float]:
    """Ask for so long, on one connection and each time on a new one; the seconds of each."""
    connect, path = local(port), "/v1/account"
    readers = [
        Reader(connect, client, 50, path),
        Reader(connect, client, 50, path, Connection="close"),
    ]
    time.sleep(seconds)
    for reader in readers:
        reader.end()
    found = [response for reader in readers for response in reader.responses]
    report.check_none([each for each in found if each.status != 200], "responses are not 200")
    return [each.seconds for each in found]


@contextmanager
def _instance(folder: Path, **settings: str) -> Iterator[tuple[int, Iterator[Client]]]:
    """A web server, and as many accounts as are asked for: of it the port."""
    plans = folder / "plans.toml"
    plans.write_text(_PLANS)
    with valkey(folder) as server:
        environ = {"REDIS_URL": server.url, "PLANS_FILE": str(plans), "LOG_LEVEL": "error"}
        with gunicorn(folder, **environ, **settings) as web:
            app = create_app(load_settings({"INSTANCE_PATH": str(folder)} | environ | settings))
            plan = "hundred" if "TRUSTED_PROXIES" in settings else "wide"
            yield web.port, (make_account(app, plan=plan) for _ in itertools.count())
            with app.app_context():
                close_all()


def _close(client: Client) -> None:
    with client.app.app_context():
        close_all()


@contextmanager
def _dripping(port: int, token: str, outcomes: Counter[str]) -> Iterator[None]:
    """The slow clients, in a process of their own. What they saw is added to ``outcomes``."""
    command = [sys.executable, "-m", "trials.faults.dripping", str(port), str(SLOW), token]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield
    finally:
        output, _ = process.communicate("end\n", timeout=30)
        outcomes.update(json.loads(output))
