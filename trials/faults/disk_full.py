"""The disk of an instance is full while clients write and read."""

from __future__ import annotations

import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tests.instances.served import Served, served
from trials.faults.service import children
from trials.faults.traffic import counted, during, refused, traffic, wait_for_responses
from trials.report import CannotCause, Report

AGAIN = 5.0  # seconds from when there is room until all succeed
REFUSALS = {503, 507}
_SETTINGS = {"METRICS_TOKEN": "faults-" + "m" * 40, "RATE_LIMIT_DISABLED": "true"}


def disk_full(_: str, folder: Path, is_short: bool) -> Report:
    """Fill the disk, and make room again."""
    with (
        small_disk(folder / "disk") as disk,
        served(disk, folder, settings=_SETTINGS) as instance,
    ):
        processes = _processes(instance)
        with traffic(instance) as clients:
            filler = _Filler(disk)
            try:
                wait_for_responses(clients.writers, lambda made: made.status in REFUSALS)
                filled_at = time.time()
                time.sleep(1 if is_short else 10)
            finally:
                filler.remove()
            freed_at = time.time()
            time.sleep(1 if is_short else AGAIN)
            wait_for_responses(clients.callers, lambda made: made.status in (200, 201))
        report = clients.check(writes={201, *REFUSALS}, reads={200})
        died = processes - _processes(instance)
        report.check(not died, f"{len(died)} of {len(processes)} processes died")
        with closing(sqlite3.connect(disk / "canopy.sqlite3")) as connection:
            ((state,),) = connection.execute("PRAGMA integrity_check").fetchall()
        report.check(state == "ok", f"integrity_check: {state}")
    written, read = (during(made, filled_at, freed_at) for made in (clients.written, clients.read))
    failed = [made for made in clients.all if made.status not in (200, 201)]
    recovery = max((made.ended - freed_at for made in failed), default=0)
    report.lines += [
        f"  full for {freed_at - filled_at:.1f} s after the first refusal; all succeed "
        f"{recovery:.2f} s later",
        f"    writes  {counted(written)}",
        f"    reads   {counted(read)}",
    ]
    report.check(bool(refused(written)), "no write was refused")
    report.check_time("recovery", recovery, AGAIN)
    return report


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "tmpfs", str(folder)]
    if subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
        raise CannotCause("a small disk cannot be mounted, which takes root on Linux")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class _Filler:
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


def _processes(instance: Served) -> set[int]:
    """Those that last as long as the instance: not the one that prints the welcome, nor jobs."""
    (application,) = children(instance.process.pid)
    parts = {*instance.marked.named("web server"), *instance.marked.named("worker")}
    return {instance.process.pid, application, *parts.intersection(children(application))}
