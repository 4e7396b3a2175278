"""The folder in which the web processes share their metrics."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path
from typing import Final

from config import Settings

_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client reads it when imported


def set_metrics_folder(settings: Settings) -> None:
    """Let the processes share their metrics, if METRICS_TOKEN is set. To be called before the first
    metric is made; further calls keep the folder."""
    if settings.metrics_token and _VARIABLE not in os.environ:
        os.environ[_VARIABLE] = str(make_metrics_folder(settings.instance_path))


def remove_metrics_folder() -> None:
    """Free the memory of the metrics."""
    if folder := os.environ.get(_VARIABLE):
        shutil.rmtree(folder, ignore_errors=True)


def make_metrics_folder(instance_path: Path) -> Path:
    """Make an empty folder for the metrics of an instance, in memory if possible: writing to files
    on a full disk would kill a process."""
    digest = hashlib.sha256(str(instance_path).encode()).hexdigest()[:16]
    in_memory = Path(f"/dev/shm/canopy-metrics-{os.getuid()}-{digest}")  # noqa: S108 - private
    folder = instance_path / "metrics"
    shutil.rmtree(in_memory, ignore_errors=True)
    with contextlib.suppress(OSError):  # no /dev/shm, or somebody else's folder
        in_memory.mkdir(mode=0o700)
        return in_memory
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder


def forget_process(pid: int) -> None:
    """Remove the gauges of a process that has ended."""
    if _VARIABLE in os.environ:
        from prometheus_client import multiprocess  # noqa: PLC0415 - it looks for the folder

        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]
