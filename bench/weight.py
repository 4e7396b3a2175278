"""What ``bin/serve`` takes where nobody uses it: memory, processor time, and time to start.

Memory that processes share is counted once. What they share with processes of others, such as the
code of libraries in one ``.venv``, is counted in part: measure in a clone with one of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench.report import machine
from config import ROOT
from tests.ports import free_port
from tests.postgres import PostgresServer
from tests.processes.instances import Marked
from tests.templates import DATABASES
from tests.waiting import wait_for

_TICKS: Final = os.sysconf("SC_CLK_TCK")  # of processor time a second
_HEAD: Final = "| | Processes | Memory | Of a core | Start |\n|---|---|---|---|---|"


def main() -> None:
    parser = argparse.ArgumentParser("python -m bench.weight", description=__doc__)
    parser.add_argument(
        "--settle", type=float, default=20.0, help="seconds before the first figure"
    )
    parser.add_argument("--idle", type=float, default=120.0, help="seconds before the last one")
    parser.add_argument(
        "--database", choices=DATABASES, nargs="+", default=DATABASES, help="default: both"
    )
    chosen = parser.parse_args()
    print(f"On {machine()}\n\n{_HEAD}", flush=True)
    for database in chosen.database:
        for options in ((), ("--small",)):
            print(_measure(database, options, chosen.settle, chosen.idle), flush=True)


def _measure(database: str, options: tuple[str, ...], settle: float, idle: float) -> str:
    """Start an instance twice, as the first start makes the database, and measure the second."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="canopy-weight-")))
        environ = {"INSTANCE_PATH": str(folder / "instance"), "PORT": str(free_port())}
        if database == "postgresql":
            folder.chmod(0o755)
            server = stack.enter_context(PostgresServer(folder / "pg"))
            environ["DATABASE_URL"] = server.create_database(has_tables=True)
        _Instance(folder / "instance", environ, options).end()
        began = time.monotonic()
        instance = _Instance(folder / "instance", environ, options)
        stack.callback(instance.end)
        started = time.monotonic() - began
        time.sleep(settle)
        before = instance.processor_seconds()
        time.sleep(idle)
        share = (instance.processor_seconds() - before) / idle
        number, memory = instance.memory()
    name = " ".join((database, *options))
    return f"| {name} | {number} | {memory / 2**20:.0f} MB | {share:.2%} | {started:.1f} s |"


class _Instance:
    """A ``bin/serve`` that responds."""

    def __init__(self, folder: Path, environ: dict[str, str], options: tuple[str, ...]) -> None:
        self._marked = Marked(folder)  # and not the database server
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.serve", "--empty", *options],
            cwd=ROOT,
            env=self._marked.environment | environ,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise SystemExit(f"bin/serve ended with exit code {self._process.wait()}.")

    def processor_seconds(self) -> float:
        """The processor time of its processes, and of those that these have waited for."""
        return sum(map(processor_seconds, self._pids()))

    def memory(self) -> tuple[int, int]:
        """The number of its processes, and the bytes that they have, those shared counted once."""
        pids = self._pids()
        return len(pids), sum(map(proportional_bytes, pids))

    def _pids(self) -> list[int]:
        """Those that last: a job has a process for a moment only, and its parent adds its time."""
        first = self._marked.pids()
        time.sleep(1)
        return [pid for pid in self._marked.pids() if pid in first]

    def end(self) -> None:
        self._process.terminate()
        self._process.wait(15)
        assert self._process.stdout is not None
        self._process.stdout.close()
        wait_for(lambda: not self._marked.pids())


def processor_seconds(pid: int) -> float:
    """Source: proc(5), fields 14 to 17 of ``stat``."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def proportional_bytes(pid: int) -> int:
    """Its proportional set size. Source: proc(5), ``smaps_rollup``."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (size,) = (line.split()[1] for line in lines if line.startswith("Pss:"))
    return int(size) * 1024


if __name__ == "__main__":
    main()
