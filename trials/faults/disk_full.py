"""The disk is full while clients write and read: that of an instance, and that of PostgreSQL."""

from __future__ import annotations

import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from trials.faults.delivering import Service, service
from trials.faults.responses import Response, describe, during, refused
from trials.faults.serving import Served, served
from trials.faults.traffic import Traffic, wait_for_responses
from trials.faults.trial_report import CannotCause, TrialReport
from trials.faults.web_kills import children

MEGABYTES = 64
AGAIN = 5.0  # seconds from when there is room until all succeed
REFUSALS = {503, 507}
KEPT = {"METRICS_TOKEN": "faults-" + "m" * 40, "RATE_LIMIT_DISABLED": "true"}


@contextmanager
def small_disk(folder: Path, megabytes: int = MEGABYTES) -> Iterator[Path]:
    """A file system of its own at ``folder``. Raises CannotCause."""
    folder.mkdir(exist_ok=True)
    options = f"size={megabytes}m,mode=755"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
        raise CannotCause("a small disk cannot be mounted, which takes root on Linux")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Filler:
    """A file that takes all room, also what becomes free later, until ``remove``."""

    def __init__(self, folder: Path) -> None:
        self._path, self._over = folder / "filler", threading.Event()
        self._thread = threading.Thread(target=self._fill)
        self._thread.start()

    def remove(self) -> None:
        self._over.set()
        self._thread.join()
        self._path.unlink()

    def _fill(self) -> None:
        with self._path.open("wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                with suppress(OSError):
                    while not self._over.is_set():
                        file.write(bytes(size))
            while not self._over.wait(0.02):
                with suppress(OSError):
                    file.write(bytes(1 << 12))


class SmallDisk(NamedTuple):
    """An instance, and the small file system that it depends on."""

    instance: Served | Service
    disk: Path


@contextmanager
def on_small_disk(database: str, folder: Path) -> Iterator[SmallDisk]:
    """With SQLite, all of an instance is on the small file system: the database, its log of
    changes, Valkey's file, logs and metrics. With PostgreSQL, that server's folder is."""
    if database == "postgresql":
        with small_disk(folder / "pg", 128) as disk, service(database, folder) as instance:
            yield SmallDisk(instance, disk)
    else:
        with small_disk(folder / "disk") as disk, served(disk, folder, settings=KEPT) as instance:
            yield SmallDisk(instance, disk)


def disk_full(made: SmallDisk, seconds: float = 10) -> TrialReport:
    """Fill the disk, and make room again after so many seconds."""
    processes = _processes(made.instance)
    traffic, filled_at, freed_at = _fill(*made, seconds)
    report = traffic.reconcile(writes={201, *REFUSALS}, reads={200})
    _judge(report, traffic, filled_at, freed_at)
    died = processes - _processes(made.instance)
    report.check(not died, f"{len(died)} of {len(processes)} processes died")
    if isinstance(made.instance, Served):
        with closing(sqlite3.connect(made.disk / "canopy.sqlite3")) as connection:
            ((found,),) = connection.execute("PRAGMA integrity_check").fetchall()
        report.lines.append(f"  integrity_check: {found}")
        report.check(found == "ok", f"integrity_check: {found}")
        report.check(made.instance.is_running, "the instance ended")
    return report


def _processes(instance: Served | Service) -> set[int]:
    """Those that last as long as the instance: its parts, and what these have started."""
    if isinstance(instance, Service):
        return {instance.web_pid, *children(instance.web_pid)}
    (application,) = children(instance.process.pid)
    web = instance.marked.named("web server")
    return {instance.process.pid, application, *children(application), *web}


def _fill(instance: Served | Service, disk: Path, seconds: float) -> tuple[Traffic, float, float]:
    traffic = Traffic(instance)
    try:
        wait_for_responses(traffic.callers, lambda made: made.status < 300)
        filler = Filler(disk)
        try:
            wait_for_responses(traffic.writers, lambda made: made.status in REFUSALS)
            filled_at = time.time()
            time.sleep(seconds)
        finally:
            filler.remove()
        freed_at = time.time()
        time.sleep(AGAIN)
        wait_for_responses(traffic.callers, lambda made: made.status < 300)
    finally:
        traffic.end()
    return traffic, filled_at, freed_at


def _judge(report: TrialReport, traffic: Traffic, filled_at: float, freed_at: float) -> None:
    written, read = (during(made, filled_at, freed_at) for made in (traffic.written, traffic.read))
    after = [made.ended - freed_at for made in _failed(traffic.all) if made.ended > freed_at]
    report.lines += [
        f"  full for {freed_at - filled_at:.1f} s after the first write was refused",
        f"    writes      {describe(written)}",
        f"    reads       {describe(read)}",
        f"  recovery      all succeed after {max(after, default=0):.2f} s ({AGAIN:g} allowed)",
    ]
    report.check(bool(refused(written)), "no write was refused")
    report.check_time("recovery", max(after, default=0), AGAIN)


def _failed(responses: list[Response]) -> list[Response]:
    return [made for made in responses if made.status >= 300 or not made.status]
