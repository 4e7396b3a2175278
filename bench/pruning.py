"""The job that deletes expired rows, in a process of its own, as often as the scheduler runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from sqlalchemy import Connection, event

from app.db.extensions import db
from app.factory import create_app
from app.maintenance import jobs
from bench.retention_rows import is_done
from config import ROOT, load_settings


@dataclass
class Pruned:
    """What the runs of the job took, in seconds.

    Moments are of ``time.perf_counter()``, which is the same in all processes.
    """

    began: float = 0.0
    seconds: float = 0.0  # from the first row to the last, with the time between runs
    runs: list[tuple[float, float]] = field(default_factory=list)  # when each began and ended
    transactions: list[float] = field(default_factory=list)


def start(environ: dict[str, str]) -> subprocess.Popen[str]:
    """The process; ``result`` waits for it."""
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "-c", "from bench.pruning import run; run()"],
        env=own | environ, cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def result(process: subprocess.Popen[str]) -> Pruned:
    """What the process measured.

    Raises:
        SystemExit: it failed.
    """
    output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"The job ended with status {process.returncode}.")
    return Pruned(**json.loads(output.splitlines()[-1]))


def run() -> None:
    """Run the job until nothing expired is left, and print how long it took."""
    job = next(job for job in jobs.JOBS if job.function is jobs.prune_events)
    assert job.every_seconds is not None
    pruned = Pruned()
    with create_app(load_settings(os.environ)).app_context(), _timed(pruned.transactions):
        pruned.began = due = time.perf_counter()
        while True:
            time.sleep(max(due - time.perf_counter(), 0))
            due = time.perf_counter() + job.every_seconds
            begun = time.perf_counter()
            job.function()
            pruned.runs.append((begun, time.perf_counter()))
            pruned.seconds = time.perf_counter() - pruned.began
            timed = len(pruned.transactions)
            if is_done():
                break
            del pruned.transactions[timed:]  # that of the question
    del pruned.transactions[timed:]
    print(json.dumps(asdict(pruned)))


@contextmanager
def _timed(transactions: list[float]) -> Iterator[None]:
    """Note how long each transaction lasts, from when it has its lock (on SQLite) to its end."""

    def begin(connection: Connection) -> None:
        connection.info["began"] = time.perf_counter()

    def end(connection: Connection) -> None:
        transactions.append(time.perf_counter() - connection.info["began"])

    engine = db.engine
    event.listen(engine, "begin", begin)
    event.listen(engine, "commit", end)
    yield
    event.remove(engine, "begin", begin)
    event.remove(engine, "commit", end)
