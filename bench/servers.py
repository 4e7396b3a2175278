"""The servers that are measured, each under the same gunicorn: the service, and bare Flask."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

from config import ROOT
from tests.ports import free_port
from tests.waiting import wait_for

# What app/processes/supervisor.py sets for the web server.
_AS_SUPERVISED = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "1048576",
    "MALLOC_TRIM_THRESHOLD_": "1048576",
}


class Server:
    """One gunicorn on a free port."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port

    @property
    def workers(self) -> list[int]:
        """The ids of the web processes."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(number) for number in path.read_text().split()]

    def cpu_seconds(self) -> float:
        """Processor time that the web processes have used."""
        ticks = 0
        for worker in self.workers:
            fields = Path(f"/proc/{worker}/stat").read_text().rpartition(") ")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory_mb(self, field: str = "VmRSS") -> float:
        """Memory of the largest web process: ``VmRSS`` now, ``VmHWM`` at its peak."""
        return max(_status(worker, field) for worker in self.workers) / 1024

    def forget_peak(self) -> None:
        """Let ``VmHWM`` begin anew."""
        for worker in self.workers:
            Path(f"/proc/{worker}/clear_refs").write_text("5")


@contextmanager
def serve(
    target: str,
    environ: dict[str, str],
    *,
    workers: int = 1,
    all_cores: bool = False,
) -> Iterator[Server]:
    """gunicorn with ``target``, on one core unless ``all_cores``, which the client then shares.

    When the measurement fails, what it logged of faults is shown.
    """
    port = free_port()
    command = [
        sys.executable, "-m", "gunicorn", "--config=python:bench", "--keep-alive=30",
        "--no-control-socket", "--log-level=error", "--preload", f"--workers={workers}",
        "--threads=4", f"--worker-class={_worker_class()}", f"--bind=127.0.0.1:{port}", target,
    ]  # fmt: skip
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | _AS_SUPERVISED | environ,
            stderr=log,
            preexec_fn=None if all_cores else _first_core,
        )
        try:
            server = Server(process, port)
            wait_for(lambda: _is_well(port) and len(server.workers) == workers, 120)
            time.sleep(0.3)  # until all processes that have been forked accept connections
            yield server
        except BaseException:
            log.seek(0)
            faults = [line for line in log if '"level":"INFO"' not in line]
            sys.stderr.writelines(faults[-60:])
            raise
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def _worker_class() -> str:
    """The kind of worker that the service runs with."""
    found = re.search(r'^worker_class = "(.+?)"', (ROOT / "gunicorn.conf.py").read_text(), re.M)
    assert found is not None
    return found[1]


def use_last_core() -> None:
    """Keep the measuring process off the core of the servers."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1]})


def _first_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0) | {0})})


def _is_well(port: int) -> bool:
    with suppress(OSError):
        urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2).read()
        return True
    return False


def _status(process: int, field: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise KeyError(field)
