"""Another process holds the lock of the SQLite file while clients write and read."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from trials.faults.delivering import Service
from trials.faults.responses import describe, during, refused
from trials.faults.traffic import Traffic, wait_for_responses
from trials.faults.trial_report import TrialReport

TIMEOUT = 5.0  # seconds that a write waits for the lock; the default of DATABASE_TIMEOUT_MS
MARGIN = 0.5  # seconds beyond
AGAIN = 2.0  # seconds from the end of the lock until all writes succeed
READ = 1.0  # seconds that a read may take meanwhile
KINDS = ("IMMEDIATE", "EXCLUSIVE")
_HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
connection.execute("BEGIN " + sys.argv[2])
print("held", flush=True)
time.sleep(float(sys.argv[3]))
connection.execute("ROLLBACK")
"""


class Lock(NamedTuple):
    """A lock of a kind, and when it was held, in seconds since the epoch."""

    kind: str
    began: float
    ended: float


def locked(service: Service, seconds: float = 10, accounts: int = 4) -> TrialReport:
    """Hold the lock for so long, once for each kind of transaction.

    Args:
        accounts: how many write. As many requests wait for the lock at once.
    """
    traffic, locks = Traffic(service, accounts=accounts), []
    try:
        for kind in KINDS:
            wait_for_responses(traffic.callers, lambda made: made.status < 300)
            locks.append(_hold(service.folder / "canopy.sqlite3", kind, seconds))
            time.sleep(AGAIN + 1)
    finally:
        traffic.end()
    report = traffic.reconcile(writes={201, 503}, reads={200})
    for lock in locks:
        _judge(report, traffic, lock)
    return report


def _hold(database: Path, kind: str, seconds: float) -> Lock:
    command = [sys.executable, "-c", _HOLD, str(database), kind, str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        began = time.time()
        holder.wait()
        return Lock(kind, began, time.time())


def _judge(report: TrialReport, traffic: Traffic, lock: Lock) -> None:
    written, read = (during(made, *lock[1:]) for made in (traffic.written, traffic.read))
    refusals = refused(written)
    after = [made.ended - lock.ended for made in refused(traffic.written) if made in refusals]
    report.lines += [
        f"  BEGIN {lock.kind}, held for {lock.ended - lock.began:.1f} s",
        f"    writes      {describe(written)}",
        f"    reads       {describe(read)}",
    ]
    report.check(bool(refusals), f"BEGIN {lock.kind} stopped no write")
    report.check_time("a read", max(made.seconds for made in read), READ)
    report.check_time("a write", max(made.seconds for made in written), TIMEOUT + MARGIN)
    report.check_time("recovery", max(after, default=0.0), AGAIN)
