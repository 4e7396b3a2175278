"""The folder in which the processes of the web server add up their metrics."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path


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
