"""The faults that a whole instance meets, by name, on each database."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from tests.conftest import DATABASES
from trials.faults import backlog, bad_jobs, hostile
from trials.faults.clock_moves import clock_moves, moving_clock
from trials.faults.database_restarts import restarts
from trials.faults.delivering import service
from trials.faults.disk_full import disk_full, on_small_disk
from trials.faults.hostile_files.trial import hostile_files
from trials.faults.import_beside import import_beside
from trials.faults.import_kills import import_kills
from trials.faults.kills import ending, kills
from trials.faults.locked import locked
from trials.faults.minute import minute
from trials.faults.outages import absent, flushes
from trials.faults.power_cuts import power_cuts, recorded
from trials.faults.serve_kills import serve_kills, serving
from trials.faults.starvation import starved
from trials.faults.trial_report import CannotCause, TrialReport
from trials.faults.web_kills import web_kills


class Trial(NamedTuple):
    """A fault, how it is brought about, and the instance that it needs: what starts one for a
    database in a folder, and with which options."""

    name: str
    description: str
    run: Callable[[Any], TrialReport]
    databases: Sequence[str] = DATABASES
    options: Mapping[str, Any] = {}
    start: Callable[..., AbstractContextManager[Any]] = service


_TWO_PROCESSES = {"settings": {"WEB_WORKERS": "2"}}

TRIALS = (
    Trial(
        "web-kills",
        "web processes are killed (SIGKILL) while clients write",
        web_kills,
        options=_TWO_PROCESSES,
    ),
    Trial(
        "serve-kills",
        "parts of bin/serve are killed and stopped by chance while clients write",
        serve_kills,
        start=serving,
    ),
    Trial("kills", "the worker is killed (SIGKILL) at four points of a delivery", kills),
    Trial("ending", "the worker is asked to stop (SIGTERM) with requests in flight", ending),
    Trial(
        "imports",
        "a worker, Valkey and PostgreSQL are killed during imports",
        import_kills,
        options=_TWO_PROCESSES,
    ),
    Trial(
        "import-beside",
        "a file of 48 MB is imported while events of another account are delivered",
        import_beside,
        start=serving,
    ),
    Trial("flushes", "Valkey is flushed every two seconds", flushes, DATABASES[:1]),
    Trial("absent", "Valkey is killed, and restarted empty", absent),
    Trial("restarts", "PostgreSQL is stopped (immediate) and started", restarts, DATABASES[1:]),
    Trial(
        "locked",
        "another process locks the SQLite file for ten seconds",
        locked,
        DATABASES[:1],
        _TWO_PROCESSES,
    ),
    Trial(
        "power", "the power is cut just after answers and deliveries", power_cuts, start=recorded
    ),
    Trial("disk-full", "the disk is full, and has room again", disk_full, start=on_small_disk),
    Trial(
        "jobs",
        "jobs raise, exit and eat memory",
        bad_jobs.bad_jobs,
        options={
            "worker_module": bad_jobs.WORKER,
            "settings": {"JOB_MEMORY_MB": str(bad_jobs.MEMORY_MB)},
        },
    ),
    Trial(
        "clock",
        "the clock is moved by an hour and by a day, forwards and back",
        clock_moves,
        DATABASES[:1],
        start=moving_clock,
    ),
    Trial(
        "receivers",
        "receivers that drip, flood, hang, redirect, close, or lead to internal addresses",
        hostile.receivers,
        options={"names": hostile.NAMES},
    ),
    Trial(
        "hostile-files",
        "files that were made to do harm are imported",
        hostile_files,
        options=_TWO_PROCESSES | {"worker_module": "worker"},
    ),
    Trial("minute", "a receiver fails once, and nothing is done until the retry", minute),
    Trial("backlog", "a receiver hangs, with many deliveries pending", backlog.backlog),
    Trial("starved", "busy loops take the processors, and receivers respond too late", starved),
)


def report(names: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """For each trial of these names and each of its databases: whether all was right, and the
    figures."""
    for trial in TRIALS:
        for database in trial.databases if trial.name in names else ():
            began, title = time.monotonic(), f"{trial.name}: {trial.description}; {database}"
            try:
                report = run(trial, database)
            except CannotCause as reason:
                yield True, f"{title}: not tried: {reason}"
                continue
            title += f", {time.monotonic() - began:.0f} s"
            wrong = [f"  WRONG: {line}" for line in report.wrong + report.late]
            yield not wrong, "\n".join([title, *report.lines, *wrong])


def run(trial: Trial, database: str) -> TrialReport:
    """Bring it about, on an instance of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="canopy-") as folder,
        trial.start(database, Path(folder), **trial.options) as made,
    ):
        return trial.run(made)
