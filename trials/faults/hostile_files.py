"""Hostile files are sent to a running service: each is refused clearly or harmless, soon, with
little memory, and others notice nothing."""

from __future__ import annotations

import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import requests

from tests.imports.hostile_files.archives import ARCHIVES
from tests.imports.hostile_files.binaries import BINARIES
from tests.imports.hostile_files.kinds import MEGABYTE, SECRET, Bait, HostileFile, Makers
from tests.imports.hostile_files.texts import TEXTS
from tests.make import make_account
from trials.faults.service import TWO_PROCESSES, Service, descendants, service
from trials.faults.traffic import Traffic, counted, during, traffic
from trials.report import Report, percentile

FILES: Final = (*ARCHIVES, *TEXTS, *BINARIES)
SECONDS: Final = 60.0  # from the upload to the answer, or the failure of the import
MEMORY: Final = 500 * MEGABYTE  # of the worker with all its processes, and of a web process
SLOWER, UNHARMED = 2.0, 0.1  # times as long others may wait, at p99; seconds that they may anyway
RECORD: Final = MEGABYTE  # bytes of what the API shows of an import, or of a page of features
_TIDY: Final = 5.0  # seconds until nothing is left of a file
_EVERY: Final = 0.1  # seconds


def hostile_files(database: str, folder: Path, is_short: bool) -> Report:
    """Import files that were made to do harm."""
    files = [file for file in FILES if not (is_short and file.is_large)]
    outcomes = Report()
    with (
        service(database, folder, settings=TWO_PROCESSES) as running,
        tempfile.TemporaryDirectory(prefix="canopy-bait-") as bait_folder,
    ):
        bait, memory = Bait(Path(bait_folder)), _Memory(running)
        try:
            with traffic(running, accounts=1) as others:
                began = time.time()
                time.sleep(1 if is_short else 10)
                joined = time.time()
                for file in files:
                    _try(outcomes, running, file, bait, memory)
        finally:
            memory.end()
            bait.close()
        report = others.check(writes={201}, reads={200})
    _compare(report, others, began, joined)
    outcomes.lines += report.lines
    outcomes.wrong += report.wrong
    outcomes.late += report.late
    return outcomes


def _compare(report: Report, others: Traffic, began: float, joined: float) -> None:
    alone, beside = during(others.all, began, joined), during(others.all, joined, float("inf"))
    report.lines += [f"  others alone  {counted(alone)}", f"  beside them   {counted(beside)}"]
    p99s = [percentile([made.seconds for made in some], 99) for some in (alone, beside)]
    report.check_time("a request of others (p99)", p99s[1], max(UNHARMED, SLOWER * p99s[0]))


def _try(report: Report, running: Service, file: HostileFile, bait: Bait, memory: _Memory) -> None:
    """Send a file, wait until its import has ended, and judge what became of it."""
    session, root = requests.Session(), f"http://127.0.0.1:{running.port}/v1/imports"
    session.headers.update(make_account(running.app).authorization)
    with tempfile.TemporaryDirectory(prefix="canopy-made-") as folder:
        most = running.app.config["SETTINGS"].max_import_bytes
        content = file.make(Makers(Path(folder), bait, most))
    memory.begin()
    began = time.monotonic()
    answer = session.post(root, files={"file": (file.filename, content)}, timeout=SECONDS)
    status, pages, said = answer.status_code, [answer.text], f"{answer.status_code}: {answer.text}"
    if status == 202:
        path = f"{root}/{answer.json()['data']['id']}"
        while (record := session.get(path, timeout=SECONDS).json()["data"])["status"] == "reading":
            time.sleep(_EVERY)
        pages = [repr(record), session.get(f"{path}/features?per_page=100", timeout=SECONDS).text]
        said = f"{record['status']}: {record['message']}"
    seconds = time.monotonic() - began
    report.lines.append(
        f"  {file.name:38} {len(content) / MEGABYTE:5.1f} MB {seconds:5.1f} s, worker "
        f"{memory.worker // MEGABYTE} MB, web {memory.web // MEGABYTE} MB: {said[:80]}"
    )
    report.check(_is_right(file, status, said), f"{file.name}: {said}")
    report.check(SECRET not in "".join(pages), f"{file.name}: the secret is shown")
    report.check(max(map(len, pages)) <= RECORD, f"{file.name}: long answers")
    report.check_none(bait.faults(), f"faults by {file.name}")
    report.check_none(_left(running), f"files are left by {file.name}")
    report.check(max(memory.worker, memory.web) < MEMORY, f"{file.name}: too much memory")
    report.check_time(file.name, seconds, SECONDS)


def _is_right(file: HostileFile, status: int, said: str) -> bool:
    if file.message is None:
        return 400 <= status < 500
    if status != 202:
        return False
    if file.message:
        return said.startswith("failed") and file.message in said
    return said.startswith(("ready", "failed")) and "ended unexpectedly" not in said


def _left(running: Service) -> list[str]:
    """What is left in the instance folder; a step may still be about to delete its file."""
    end = time.monotonic() + _TIDY
    while (left := [*(running.folder / "imports").glob("*/*")]) and time.monotonic() < end:
        time.sleep(_EVERY)
    return [str(each) for each in left]


class _Memory:
    """The most memory that the worker with all below it, and a web process, had; in bytes. What
    processes share is divided among them."""

    def __init__(self, running: Service) -> None:
        self.worker = self.web = 0
        self._roots = running.worker.pid, running.web_pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def begin(self) -> None:
        """Forget what was."""
        self.worker = self.web = 0

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        worker, web = self._roots
        while not self._over.wait(_EVERY):
            self.worker = max(self.worker, sum(map(_bytes, [worker, *descendants(worker)])))
            self.web = max(self.web, *map(_bytes, descendants(web)), 0)


def _bytes(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
