"""Valkey, PostgreSQL and SQLite's file fail while clients write and read."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import psycopg

from app.db.connections import close_all
from app.factory import create_app
from config import load_settings
from tests.api.server import gunicorn
from tests.instances.valkey import Valkey, valkey
from tests.make import Client, make_account
from trials.faults.service import TWO_PROCESSES, children, service
from trials.faults.traffic import Reader, Traffic, counted, during, local, refused, traffic
from trials.report import Report, percentile

WORKERS, THREADS, CALLERS = 2, 4, 8
FIRST, KNOWN = 0.3, 0.02  # seconds that a request may take longer, over the p99 before the fault
BACK = 5.0  # seconds until limits hold again
DELIVERED = 15.0  # seconds until events are delivered again
AGAIN = 2.0  # seconds until all requests succeed once a database is there again
LOCKED = 5.5  # seconds that a write may wait for SQLite's lock: DATABASE_TIMEOUT_MS and some
READ = 1.0  # seconds that a read may take meanwhile
_PLANS: Final = """
[wide]
requests_per_minute = 1_000_000
requests_per_day = 100_000_000
[narrow]
requests_per_minute = 5
"""
_TOKEN: Final = "the-metrics-token"


class ValkeyFault(NamedTuple):
    """What brings it about, and returns what ends it. ``keeps_limits``: Valkey can be asked."""

    name: str
    begin: Callable[[Valkey], Callable[[], object]]
    keeps_limits: bool = False


def _killed(server: Valkey) -> Callable[[], object]:
    server.kill()
    return server.start


def _hanging(server: Valkey) -> Callable[[], object]:
    server.send(signal.SIGSTOP)
    return lambda: server.send(signal.SIGCONT)


def _refusing(server: Valkey) -> Callable[[], object]:
    server.control.config_set("maxclients", 1)
    server.control.client_kill_filter(_type="normal", skipme=True)
    return lambda: server.control.config_set("maxclients", 10_000)


def _read_only(server: Valkey) -> Callable[[], object]:
    server.control.replicaof("127.0.0.1", 1)
    return lambda: server.control.replicaof("NO", "ONE")


def _full(server: Valkey) -> Callable[[], object]:
    server.control.config_set("maxmemory", 1)
    return lambda: server.control.config_set("maxmemory", 0)


def _flushed(server: Valkey) -> Callable[[], object]:
    over = threading.Event()

    def flush() -> None:
        while not over.wait(0.5):
            server.control.flushall()

    thread = threading.Thread(target=flush)
    thread.start()

    def end() -> None:
        over.set()
        thread.join()

    return end


VALKEY_FAULTS: Final = (
    ValkeyFault("killed", _killed),
    ValkeyFault("hanging", _hanging),
    ValkeyFault("refusing", _refusing),
    ValkeyFault("read-only", _read_only),
    ValkeyFault("full", _full),
    ValkeyFault("flushed", _flushed, keeps_limits=True),
)


def valkey_fails(_: str, folder: Path, is_short: bool) -> Report:
    """Have Valkey fail in each way, under load: what callers see."""
    report = Report()
    for fault in VALKEY_FAULTS:
        own = folder / fault.name
        own.mkdir()
        _fail(report, fault, own, 1.0 if is_short else 10.0)
    return report


def _fail(report: Report, fault: ValkeyFault, folder: Path, seconds: float) -> None:
    with _instance(folder) as (port, server, wide, narrow):
        callers = [Reader(local(port), wide, 1_000, "/v1/account") for _ in range(CALLERS)]
        try:
            time.sleep(1 + min(seconds, 3))
            began = time.time()
            end = fault.begin(server)
            try:
                time.sleep(1 + seconds)
                ended = time.time()
                health = json.loads(_get(port, "/api/health")[1]).get("status")
            finally:
                end()
            back = _seconds_until_back(port, narrow, folder)
        finally:
            for caller in callers:
                caller.end()
        metrics = _get(port, "/metrics", {"Authorization": f"Bearer {_TOKEN}"})[1]
    every = [response for caller in callers for response in caller.responses]
    before = [made.seconds for made in every if made.ended < began]
    first = [made.seconds for made in every if began <= made.ended and made.began < began + 1]
    known = during(every, began + 1, ended)
    name, p99 = f"Valkey {fault.name}", percentile(before, 99)
    longest, later = max(first), percentile([made.seconds for made in known], 99)
    report.lines.append(
        f"  {fault.name:10} p99 {p99 * 1000:.1f} ms before; at first at most {longest * 1000:.1f} "
        f"ms; then p99 {later * 1000:.1f} ms, {len(known):,} responses; limits hold {back:.2f} s "
        "after it"
    )
    report.check_none([made for made in every if made.status != 200], "responses are not 200")
    limited = sum("x-ratelimit-limit" in made.headers for made in known)
    expected = len(known) if fault.keeps_limits else 0
    report.check(limited == expected, f"{name}: {limited} answers have headers of limits")
    report.check(fault.keeps_limits or health == "degraded", f"{name}: health is {health}")
    counts = {*_log_lines(folder), _outages(metrics)}
    allowed = {0} if fault.keeps_limits else {1, WORKERS}  # one process may not have been asked
    is_logged = len(counts) == 1 and counts <= allowed
    report.check(is_logged, f"{name}: beginnings, ends and outages are told {counts} times")
    report.check_time(f"{name}: the first request", longest - p99, FIRST)
    report.check_time(f"{name}: p99 later", later - p99, KNOWN)
    report.check_time(f"{name}: limits", back, BACK)


@contextmanager
def _instance(folder: Path) -> Iterator[tuple[int, Valkey, Client, Client]]:
    """gunicorn with several processes, and two accounts, of which one may ask five times."""
    plans = folder / "plans.toml"
    plans.write_text(_PLANS)
    with valkey(folder) as server:
        environ = {
            "REDIS_URL": server.url,
            "PLANS_FILE": str(plans),
            "METRICS_TOKEN": _TOKEN,
            "LOG_LEVEL": "warning",
            "WEB_WORKERS": str(WORKERS),
            "WEB_THREADS": str(THREADS),
        }
        with gunicorn(folder, **environ) as web:
            app = create_app(load_settings({"INSTANCE_PATH": str(folder)} | environ))
            wide, narrow = (make_account(app, plan=plan) for plan in ("wide", "narrow"))
            with app.app_context():
                close_all()
            yield web.port, server, wide, narrow


def _seconds_until_back(port: int, client: Client, folder: Path) -> float:
    """How long it takes until every process that saw the outage has seen its end, and the sixth
    request of five allowed ones is refused again and again."""
    began, refusals = time.monotonic(), 0
    while refusals < 4 * WORKERS * THREADS or len(set(_log_lines(folder))) > 1:
        status, _ = _get(port, "/v1/account", client.authorization)
        refusals = refusals + 1 if status == 429 else 0
        assert time.monotonic() - began < 30, "the limits do not hold again"
    return time.monotonic() - began


def _log_lines(folder: Path) -> tuple[int, int]:
    """How many lines tell of the beginning of an outage, and of its end."""
    log = (folder / "gunicorn.log").read_text()
    return log.count("Valkey is down"), log.count("Valkey is back")


def _outages(metrics: str) -> int:
    lines = [line for line in metrics.splitlines() if line.startswith("canopy_valkey_outages")]
    return int(sum(float(line.split()[-1]) for line in lines if "_total" in line))


def _get(port: int, path: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=headers or {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def valkey_absent(database: str, folder: Path, is_short: bool) -> Report:
    """Kill Valkey, and start it again empty after a minute: events are delivered, soon again."""
    away = 2.0 if is_short else 60.0
    with service(database, folder) as running:
        with traffic(running) as clients:
            running.valkey.kill()
            time.sleep(away)
            running.valkey.start()
            back_at = time.time()
            time.sleep(min(away, DELIVERED))
        report = clients.check(writes={201}, reads={200})
        late = [
            arrival.at - back_at
            for customer in clients.customers
            for arrival in customer.inbox.arrivals
            if json.loads(arrival.request.body)["created_at"] < _written(back_at)
        ]
    report.lines.append(f"  what came before it was back was delivered {max(late):.1f} s after it")
    report.check_time("an event from before Valkey was back", max(late), DELIVERED)
    return report


def _written(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))


class _Outage(NamedTuple):
    """When PostgreSQL was gone, was started, and accepted connections; seconds since the epoch."""

    gone_at: float
    started_at: float
    back_at: float


def restarts(database: str, folder: Path, is_short: bool) -> Report:
    """Kill PostgreSQL, and start it again."""
    number, away, pause = (1, 0.5, 2.0) if is_short else (5, 2.0, 6.0)
    outages = []
    with service(database, folder) as running:
        processes = children(running.web_pid)
        with traffic(running) as clients:
            for _ in range(number):
                assert running.postgres is not None
                gone_at = time.time()  # what is refused from now on is not of the outage before
                running.postgres.kill()
                time.sleep(away)
                started_at = time.time()
                start = threading.Thread(target=running.postgres.start)
                start.start()
                while not _accepts(running.postgres.url):
                    time.sleep(0.005)
                outages.append(_Outage(gone_at, started_at, time.time()))
                start.join()
                time.sleep(pause)
        report = clients.check(writes={201, 503}, reads={200, 503})
        report.check(children(running.web_pid) == processes, "web processes were restarted")
    _judge_restarts(report, clients, outages)
    return report


def _accepts(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def _judge_restarts(report: Report, clients: Traffic, outages: list[_Outage]) -> None:
    gone, recoveries = [], [0.0]
    ends = [each.gone_at for each in outages[1:]] + [float("inf")]
    for outage, end in zip(outages, ends, strict=True):
        gone += during(clients.all, outage.gone_at, outage.started_at)
        recoveries += [
            made.ended - outage.back_at
            for made in refused(clients.all)
            if outage.gone_at < made.ended < end
        ]
    report.lines.append(
        f"  {len(outages)} times; {len(gone):,} requests meanwhile; all succeed "
        f"{max(recoveries):.2f} s after it is back"
    )
    report.check_none([each for each in gone if each.status != 503], "responses without a database")
    report.check_time("an event", max(clients.delays), DELIVERED)
    report.check_time("recovery", max(recoveries), AGAIN)


_HOLD: Final = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
connection.execute("BEGIN " + sys.argv[2])
print("held", flush=True)
time.sleep(float(sys.argv[3]))
connection.execute("ROLLBACK")
"""


def locked(database: str, folder: Path, is_short: bool) -> Report:
    """Have another process lock SQLite's file, once with each kind of transaction."""
    settings = TWO_PROCESSES | ({"DATABASE_TIMEOUT_MS": "500"} if is_short else {})
    locks = []
    with service(database, folder, settings=settings) as running:
        with traffic(running, accounts=2 if is_short else 4) as clients:
            for kind in ("IMMEDIATE", "EXCLUSIVE"):
                file = str(running.folder / "canopy.sqlite3")
                command = [sys.executable, "-c", _HOLD, file, kind, "1.5" if is_short else "10"]
                with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
                    assert holder.stdout is not None
                    assert holder.stdout.readline()
                    began = time.time()
                    holder.wait()
                locks.append((kind, began, time.time()))
                time.sleep(1 if is_short else AGAIN + 1)
        report = clients.check(writes={201, 503}, reads={200})
    for kind, began, ended in locks:
        written, read = (during(made, began, ended) for made in (clients.written, clients.read))
        after = [made.ended - ended for made in refused(written)]
        report.lines += [
            f"  BEGIN {kind}, {ended - began:.1f} s",
            f"    writes  {counted(written)}",
            f"    reads   {counted(read)}",
        ]
        report.check(bool(after), f"BEGIN {kind} stopped no write")
        report.check_time("a read", max(made.seconds for made in read), READ)
        report.check_time("a write", max(made.seconds for made in written), LOCKED)
        report.check_time("recovery", max(after, default=0.0), AGAIN)
    return report
