"""What an import of the most features costs: to read the file, apply it, and undo it.

Processor time of the worker with its processes and, on PostgreSQL, of the database; the memory that
the job and the process that reads the file take at most, beside that of an idle worker.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from app.policy.files import FEATURES
from app.policy.imports import WORKING
from app.processes import embedded_valkey
from bench import report
from bench.report import Effort
from bench.weight import processor_seconds, proportional_bytes
from tests.imports.making import read, upload
from tests.imports.worker import running
from tests.make import Client, make_project, square
from tests.make.bulk import make_accounts
from tests.make.features import collection, feature
from trials.faults.service import descendants

FULL: Final = Effort(rounds=1, seconds=0)
_EVERY: Final = 0.2  # seconds between two looks at the memory
_HEAD: Final = "| File | Reading | Applying | Undoing | Reader |\n|---|---:|---:|---:|---:|"


class _Memory:
    """The most memory of the job, beside that of the idle worker, and of the reader; in bytes."""

    def __init__(self, worker: int) -> None:
        self.job = self.reader = 0
        self._worker, self._idle = worker, _size([worker])
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    @contextmanager
    def watched(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_EVERY):
            found = [self._worker, *descendants(self._worker)]
            readers = [pid for pid in found if _is_reader(pid)]
            self.reader = max(self.reader, _size(readers))
            self.job = max(self.job, _size([*{*found} - {*readers}]) - self._idle)


def _is_reader(pid: int) -> bool:
    with suppress(OSError):
        return b"fork_readers" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _size(pids: list[int]) -> int:
    size = 0
    for pid in pids:
        with suppress(OSError, ValueError):  # it has ended
            size += proportional_bytes(pid)
    return size


def _seconds(root: int) -> float:
    total = 0.0
    for pid in (root, *descendants(root)):
        with suppress(OSError):
            total += processor_seconds(pid)
    return total


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    """The table of one database."""
    number = effort.number(FEATURES)
    places = [(f"T-{each}", each % 250 * 0.01, 40 + each // 250 * 0.01) for each in range(number)]
    rows = [f"{name},{x:.2f},{y:.2f},oak\n" for name, x, y in places]
    points = f"name,longitude,latitude,species\n{''.join(rows)}".encode()
    squares = collection(*(feature(square(x, y, 0.009), name=name) for name, x, y in places))
    lines = [_HEAD]
    for kind, name, content in (
        ("assets", "points.csv", points), ("projects", "squares.geojson", squares)
    ):  # fmt: skip
        url = new_database()
        line = _measured(folder / kind, url, kind, name, content)
        lines.append(f"| {number:,} {name}, {len(content) / 1e6:.1f} MB | {line} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def _measured(folder: Path, url: str, kind: str, name: str, content: bytes) -> str:
    """The figures of one file, in a database with no other."""
    folder.mkdir(parents=True)
    valkey = embedded_valkey.ensure_valkey(folder / "valkey")
    try:
        app, _, (principal,), key = make_accounts(folder, url, 1, REDIS_URL=valkey)
        client = Client(app, principal.account_id, str(principal.user_id), key)
        form = {"project_id": make_project(client)["id"]} if kind == "assets" else {}
        postmaster = folder.parents[1] / "pg" / "postmaster.pid"
        servers = [int(postmaster.read_text().split()[0])] if url else []
        figures = []
        with running(app, valkey) as worker:
            time.sleep(5)  # until it idles
            memory, roots = _Memory(worker), (worker, *servers)
            with memory.watched():
                response = None
                for step in ("", "apply", "undo"):
                    before, memory.job = [*map(_seconds, roots)], 0
                    if response is None:
                        response = upload(client, content, name, kind=kind, **form)
                    else:
                        response = client.post(f"{response.headers['Location']}/{step}")
                    record = response.json["data"]
                    while record["status"] in WORKING:
                        time.sleep(_EVERY)
                        record = read(client, record["id"])
                    used = (_seconds(root) - was for root, was in zip(roots, before, strict=True))
                    seconds = " + ".join(f"{each:,.1f}" for each in used)
                    figures.append(f"{seconds} s, {memory.job / 1e6:,.0f} MB")
    finally:
        embedded_valkey.release_valkey(folder / "valkey")
    assert record["status"] == "undone", record
    return f"{' | '.join(figures)} | {memory.reader / 1e6:,.0f} MB"


if __name__ == "__main__":
    report.measure(run, __doc__, FULL)
