"""Web processes are killed while clients write and read."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from pathlib import Path

from tests.waiting import wait_for
from trials.faults.delivering import Service
from trials.faults.traffic import Traffic
from trials.faults.trial_report import TrialReport

PAUSE = 0.4  # seconds between two kills, on average


def web_kills(service: Service, number: int = 100) -> TrialReport:
    """Kill web processes (SIGKILL), one at a time, so many times."""
    processes = len(wait_for(lambda: children(service.web_pid)))
    traffic = Traffic(service, accounts=4, rate=40)
    began = time.monotonic()
    try:
        for _ in range(number):
            time.sleep(random.uniform(0, 2 * PAUSE))
            found = wait_for(lambda: all_of(service.web_pid, processes))
            os.kill(random.choice(found), signal.SIGKILL)
        seconds = time.monotonic() - began
        time.sleep(1)
    finally:
        traffic.end()
    report = traffic.reconcile(writes={0, 201, 409, 503}, reads={0, 200})
    lost = sum(made.status == 0 for made in traffic.all)
    report.lines.insert(
        0, f"  {number} kills of {processes} processes in {seconds:.0f} s; {lost:,} requests lost"
    )
    report.check(bool(lost), "no request was lost, so nothing was tried")
    return report


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended meanwhile
            found += map(int, (task / "children").read_text().split())
    return found


def all_of(pid: int, number: int) -> list[int]:
    """The children of a process; none as long as there are fewer."""
    found = children(pid)
    return found if len(found) >= number else []
