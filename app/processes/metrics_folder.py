"""The folder in which the processes of the web server add up their metrics."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path
from typing import Final

from config import Settings

_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"  # which prometheus_client reads when imported


def set_metrics_folder(settings: Settings) -> None:
    """Let the processes add up their metrics, if an operator reads them. To be called before the
    first metric is made; again, it keeps the folder."""
    if settings.metrics_token and _VARIABLE not in os.environ:
        os.environ[_VARIABLE] = str(make_metrics_folder(settings.instance_path))


def remove_metrics_folder() -> None:
    """Free its memory."""
    if folder := os.environ.get(_VARIABLE):
        shutil.rmtree(folder, ignore_errors=True)


def make_metrics_folder(instance_path: Path) -> Path:
    """An empty folder for the metrics of an instance.

    In memory, if possible: a process whose files are on a disk that is full is killed when it
    writes to them.
    """
    place = hashlib.sha256(str(instance_path).encode()).hexdigest()[:16]
    in_memory = Path(f"/dev/shm/canopy-metrics-{os.getuid()}-{place}")  # noqa: S108 - private
    folder = instance_path / "metrics"
    shutil.rmtree(in_memory, ignore_errors=True)
    with contextlib.suppress(OSError):  # there is no such place, or it is somebody else's
        in_memory.mkdir(mode=0o700)
        return in_memory
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder


def forget_process(pid: int) -> None:
    """Take the gauges of a process that has ended out of the metrics."""
    if _VARIABLE in os.environ:
        from prometheus_client import multiprocess  # noqa: PLC0415 - it looks for the folder

        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]
