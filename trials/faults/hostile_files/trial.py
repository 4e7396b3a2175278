"""Hostile files are sent to a running service: each is refused clearly or harmless, soon, with
little memory, and others notice nothing."""

from __future__ import annotations

import json
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.make import Client, make_account
from trials.faults.hostile_files.archives import ARCHIVES
from trials.faults.hostile_files.binaries import BINARIES
from trials.faults.hostile_files.kinds import MEGABYTE, SECRET, Bait, HostileFile, Makers
from trials.faults.hostile_files.texts import TEXTS
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
    send = _sender(running.port, make_account(running.app))
    with tempfile.TemporaryDirectory(prefix="canopy-made-") as folder:
        most = running.app.config["SETTINGS"].max_import_bytes
        content = file.make(Makers(Path(folder), bait, most))
    memory.begin()
    began = time.monotonic()
    status, body = send("POST", "/v1/imports", file.filename, content)
    pages = [body]
    if status == 202:
        path = f"/v1/imports/{body['data']['id']}"
        while (body := send("GET", path)[1])["data"]["status"] == "reading":
            time.sleep(_EVERY)
        pages = [body, send("GET", f"{path}/features?per_page=100")[1]]
        said = f"{body['data']['status']}: {body['data']['message']}"
    else:
        said = f"{status}: {body.get('error', {}).get('message')}"
    seconds = time.monotonic() - began
    report.lines.append(
        f"  {file.name:38} {len(content) / MEGABYTE:5.1f} MB {seconds:5.1f} s, worker "
        f"{memory.worker // MEGABYTE} MB, web {memory.web // MEGABYTE} MB: {said[:80]}"
    )
    report.check(_is_right(file, status, said), f"{file.name}: {said}")
    report.check(SECRET not in repr(pages), f"{file.name}: the secret is shown")
    report.check(max(len(repr(page)) for page in pages) <= RECORD, f"{file.name}: long answers")
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


def _sender(port: int, client: Client) -> Callable[..., tuple[int, Any]]:
    """What sends a request, or a file in a form, and returns the status and the JSON."""

    def send(method: str, path: str, name: str = "", content: bytes = b"") -> tuple[int, Any]:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
        for header, value in client.authorization.items():
            request.add_header(header, value)
        if name:
            boundary = uuid.uuid4().hex
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"'
            request.data = f"{head}\r\n\r\n".encode() + content + f"\r\n--{boundary}--\r\n".encode()
            request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
        try:
            with urllib.request.urlopen(request, timeout=SECONDS * 2) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except OSError as error:  # refused before it was read
            return 413, {"error": {"message": repr(error)}}

    return send


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
