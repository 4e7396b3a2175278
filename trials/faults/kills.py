"""The worker, web processes, and the parts of ``bin/serve`` are killed while clients write and
read: nothing is lost, nothing is made twice, and what died comes again."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from app.processes import embedded_valkey
from tests.instances.served import END_SECONDS, Served, served
from tests.postgres import PostgresServer
from tests.waiting import wait_for
from trials.faults.killing_worker import POINTS
from trials.faults.service import TWO_PROCESSES, children, service
from trials.faults.traffic import traffic
from trials.report import Report

LONGEST = 120  # seconds from an event to its delivery
BACK = 60  # seconds until a part of bin/serve is back: one that dies often waits for up to 30
_WEB_PAUSE, _PART_PAUSE = 0.4, 2.0  # seconds between two kills, on average
_STOPS = 0.3  # of the faults of bin/serve; the others are kills
_PARTS = ("application", "web server", "web server", "worker", "Valkey", "watchdog")
_PLANS = "[enterprise]\nrequests_per_minute = 100_000\n"  # counted, and never reached


def worker_kills(database: str, folder: Path, is_short: bool) -> Report:
    """Kill the worker (SIGKILL) at four points of a delivery."""
    number, kills = 4 if is_short else 60, folder / "kills"
    kills.touch()

    def done() -> list[str]:
        return kills.read_text().splitlines()

    with service(database, folder, worker="trials.faults.killing_worker") as running:
        with traffic(running) as clients:
            (folder / "armed").touch()
            wait_for(lambda: len(done()) >= number, 15 * number)
            (folder / "armed").unlink()
            time.sleep(1)  # what is written now wakes a job that lives
        report = clients.check(writes={201}, reads={200})
    points = Counter(line.split(", ")[0] for line in done())
    report.lines.insert(0, f"  {', '.join(f'{points[point]} {point}' for point in POINTS)}")
    report.check(min(points[point] for point in POINTS) > 0, "not all points had their turn")
    report.check_time("an event", max(clients.delays), LONGEST)
    return report


def web_kills(database: str, folder: Path, is_short: bool) -> Report:
    """Kill web processes (SIGKILL), one at a time."""
    number = 8 if is_short else 100
    with service(database, folder, settings=TWO_PROCESSES) as running:
        processes = len(wait_for(lambda: children(running.web_pid)))

        def all_of_them() -> list[int]:
            found = children(running.web_pid)
            return found if len(found) >= processes else []

        with traffic(running, accounts=4, rate=40) as clients:
            for _ in range(number):
                time.sleep(random.uniform(0, 2 * _WEB_PAUSE))
                os.kill(random.choice(wait_for(all_of_them)), signal.SIGKILL)
            time.sleep(1)
        report = clients.check(writes={0, 201, 409, 503}, reads={0, 200})
    lost = sum(made.status == 0 for made in clients.all)
    report.lines.insert(0, f"  {number} kills; {lost:,} requests lost")
    report.check(bool(lost), "no request was lost, so nothing was tried")
    return report


def part_kills(database: str, folder: Path, is_short: bool) -> Report:
    """Kill (SIGKILL) or stop (SIGSTOP) parts of ``bin/serve``, one at a time."""
    with ExitStack() as stack:
        plans = folder / "plans.toml"
        plans.write_text(_PLANS)
        settings = {"LOG_LEVEL": "warning", "PLANS_FILE": str(plans)}
        if database == "postgresql":
            server = stack.enter_context(PostgresServer(folder / "pg"))
            settings["DATABASE_URL"] = server.create_database()
        place = folder / "instance"
        place.mkdir()
        instance = stack.enter_context(served(place, folder, settings=settings))
        with traffic(instance, accounts=4) as clients:
            faults = _cause(instance, 8 if is_short else 60)
            time.sleep(1)
        report = clients.check(writes={0, 201, 409, 503}, reads={0, 200})
        report.lines[:0] = [
            f"  {len(times)} × {fault}, back after {max(times):.1f} s at most"
            for fault, times in sorted(faults.items())
        ]
        by_limits = [made for made in clients.all if made.status >= 500 and b"limit" in made.body]
        report.check_none(by_limits, "responses of 5xx are from limits")
        _check_end(report, instance)
    return report


def _cause(instance: Served, number: int) -> dict[str, list[float]]:
    """The seconds until the part was back, by what was done."""
    gone: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(number):
        time.sleep(random.uniform(0, 2 * _PART_PAUSE))
        part, pid = random.choice(wait_for(lambda: _all_parts(instance), BACK))
        is_stop = random.random() < _STOPS and part != "watchdog"  # nobody ends one that is stopped
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP if is_stop else signal.SIGKILL)
        began = time.monotonic()
        wait_for(lambda: _all_parts(instance, besides=pid), BACK)  # noqa: B023 - called at once
        gone[f"{part} {'stopped' if is_stop else 'killed'}"].append(time.monotonic() - began)
    return gone


def _check_end(report: Report, instance: Served) -> None:
    report.check(instance.is_running, "bin/serve ended")
    embedded_valkey.release_valkey(instance.folder)  # else it would go on for this process
    instance.process.terminate()
    code = instance.process.wait(END_SECONDS)
    report.check(code == 0, f"exit code {code}")
    report.check_none(instance.marked.commands().values(), "processes are left after SIGTERM")


def _all_parts(instance: Served, besides: int = 0) -> list[tuple[str, int]]:
    """The parts and their processes, once all run, and none is the process ``besides``."""
    with suppress(FileNotFoundError, ProcessLookupError):  # some end meanwhile
        found = list(_parts(instance))
        pids = {pid for _, pid in found}
        if sorted(name for name, _ in found) == sorted(_PARTS) and besides not in pids:
            return found
    return []


def _parts(instance: Served) -> Iterator[tuple[str, int]]:
    valkey: Any = embedded_valkey.read_server(instance.folder)
    if valkey is not None and embedded_valkey.is_running(instance.folder):
        yield "Valkey", valkey.pid
        yield "watchdog", valkey.watchdog
    for application in children(instance.process.pid):
        if b"app.preload" in Path(f"/proc/{application}/cmdline").read_bytes():
            yield "application", application
            for pid in children(application):
                yield Path(f"/proc/{pid}/comm").read_text().strip(), pid
