"""The parts of ``bin/serve`` are killed and stopped by chance while clients write and read: the
rest goes on, the part comes again, and nothing is left after the end."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from app.processes import embedded
from tests.postgres import PostgresServer
from tests.waiting import wait_for
from trials.faults.serving import END_SECONDS, Served, served
from trials.faults.traffic import Traffic
from trials.faults.trial_report import TrialReport
from trials.faults.web_kills import children

PAUSE = 2.0  # seconds between two faults, on average
BACK = 60  # seconds until a part is back: one that has died often waits for up to 30
_STOPS = 0.3  # of the faults; the others are kills
_PARTS = {"web server": 2, "worker": 1}  # children of the application
_PLANS = "[enterprise]\nrequests_per_minute = 100_000\n"  # counted, and never reached


@contextmanager
def serving(database: str, folder: Path) -> Iterator[Served]:
    """An instance of ``bin/serve`` with its Valkey, on a database of its own."""
    with ExitStack() as stack:
        plans = folder / "plans.toml"
        plans.write_text(_PLANS)
        settings = {"LOG_LEVEL": "warning", "PLANS_FILE": str(plans)}
        if database == "postgresql":
            server = stack.enter_context(PostgresServer(folder / "pg"))
            settings["DATABASE_URL"] = server.create_database()
        place = folder / "instance"
        place.mkdir()
        yield stack.enter_context(served(place, folder, settings=settings))


def serve_kills(instance: Served, number: int = 200) -> TrialReport:
    """Kill (SIGKILL) or stop (SIGSTOP) parts, one at a time, so many times."""
    traffic = Traffic(instance, accounts=4, rate=10)
    done: Counter[str] = Counter()
    gone: defaultdict[str, list[float]] = defaultdict(list)  # seconds until it was back
    try:
        for _ in range(number):
            time.sleep(random.uniform(0, 2 * PAUSE))
            part, pid = random.choice(wait_for(lambda: _all_parts(instance), BACK))
            is_stop = random.random() < _STOPS
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP if is_stop else signal.SIGKILL)
            fault = f"{part} {'stopped' if is_stop else 'killed'}"
            done[fault] += 1
            if part == "watchdog" and is_stop:  # it harms nothing, and nobody ends it
                time.sleep(PAUSE)
                os.kill(pid, signal.SIGCONT)
                continue
            began = time.monotonic()
            wait_for(lambda: _all_parts(instance, besides=pid), BACK)  # noqa: B023 - called at once
            gone[fault].append(time.monotonic() - began)
        time.sleep(1)
    finally:
        traffic.end()
    report = traffic.reconcile(writes={0, 201, 409, 503}, reads={0, 200})
    report.lines[:0] = [
        f"  {number} faults: " + ", ".join(f"{count} {fault}" for fault, count in done.items()),
        *(
            f"  back after    {max(times):.1f} s at most: {fault}"
            for fault, times in sorted(gone.items())
        ),
    ]
    lost = sum(made.status == 0 for made in traffic.all)
    report.check(bool(lost), "no request was lost, so nothing was tried")
    by_limits = sum(b"limit" in made.body for made in traffic.all if made.status >= 500)
    report.check(not by_limits, f"{by_limits} responses of 5xx are from limits")
    report.check(instance.is_running, "bin/serve ended")
    embedded.release(instance.folder)  # else it would go on for this process
    instance.process.terminate()
    code = instance.process.wait(END_SECONDS)
    report.check(code == 0, f"exit code {code}")
    left = instance.marked.commands()
    report.check(not left, f"left after SIGTERM: {[*left.values()]}")
    return report


def _all_parts(instance: Served, besides: int = 0) -> list[tuple[str, int]]:
    """The parts and their processes, once all run, and none is the process ``besides``."""
    with suppress(FileNotFoundError, ProcessLookupError):  # some end meanwhile
        found = list(_parts(instance))
        names = Counter(name for name, _ in found)
        pids = {pid for _, pid in found}
        wanted = Counter({**_PARTS, "application": 1, "Valkey": 1, "watchdog": 1})
        if names == wanted and besides not in pids:
            return found
    return []


def _parts(instance: Served) -> Iterator[tuple[str, int]]:
    valkey: Any = embedded.recorded(instance.folder)
    if valkey is not None and embedded.is_running(instance.folder):
        yield "Valkey", valkey.pid
        yield "watchdog", valkey.watchdog
    for application in children(instance.process.pid):
        if b"app.preload" in Path(f"/proc/{application}/cmdline").read_bytes():
            yield "application", application
            for pid in children(application):
                yield Path(f"/proc/{pid}/comm").read_text().strip(), pid
