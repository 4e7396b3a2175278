"""Hostile files are sent to a running service: each is refused clearly or harmless, soon, with
little memory, and others notice nothing."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.make import make_account
from trials.faults.delivering import Service
from trials.faults.hostile_files.archives import ARCHIVES
from trials.faults.hostile_files.binaries import BINARIES
from trials.faults.hostile_files.kinds import MEGABYTE, SECRET, Bait, HostileFile, Makers
from trials.faults.hostile_files.texts import TEXTS
from trials.faults.hostile_files.watching import Memory, Others, shown
from trials.faults.importing import POLL, Answer, Importer, Record
from trials.faults.reconciliation import percentile
from trials.faults.trial_report import TrialReport

FILES: Final = (*ARCHIVES, *TEXTS, *BINARIES)
SECONDS: Final = 60.0  # from the upload to the answer, or the failure of the import
MEMORY: Final = 500 * MEGABYTE  # of the worker with all its processes, and of a web process
SLOWER: Final = 2.0  # times as long others may wait, at p99
UNHARMED: Final = 0.1  # seconds that they may wait in any case
RECORD: Final = MEGABYTE  # bytes of what the API shows of an import, or of a page of features
_BEFORE: Final = 10.0  # seconds in which others are alone
_TITLE: Final = (
    f"  {'file':38}     size  answer   ended   worker     web  what the import says, or the upload"
)
_TIDY: Final = 5.0  # seconds
_UNHELPFUL: Final = "ended unexpectedly"


class Outcome(NamedTuple):
    """What became of a file. ``seconds``: until the answer, and until the import ended."""

    file: HostileFile
    size: int
    upload: Answer
    answered: float
    ended: float
    record: Record | None
    shown: int  # bytes of the longer of the two answers about it
    is_leaked: bool
    memory: tuple[int, int]  # of the worker, and of a web process

    @property
    def said(self) -> str:
        if self.record is None:
            return f"{self.upload.status} {self.upload.message}"
        if self.record["status"] == "failed":
            return f"failed: {self.record['message']}"
        counts = self.record["counts"]
        features = ", ".join(f"{counts[name]} {name}" for name in ("new", "same", "rejected"))
        return f"{self.record['status']}: {features}"


def hostile_files(
    service: Service, files: Sequence[HostileFile] = FILES, before: float = _BEFORE
) -> TrialReport:
    """Send each file, and wait until its import has ended.

    Args:
        before: seconds in which others are alone, to compare with.
    """
    report = TrialReport(lines=[_TITLE])
    others = Others(service.port, make_account(service.app))
    memory = Memory(service.worker.pid, service.web_pid)
    settings = service.app.config["SETTINGS"]
    with tempfile.TemporaryDirectory(prefix="canopy-bait-") as folder:
        bait = Bait(Path(folder))
        try:
            time.sleep(before)
            alone = others.take()
            for file in files:
                made = _try(service, file, bait, memory, settings.max_import_bytes)
                report.lines.append(_line(made))
                _judge(report, made, [*bait.faults(), *_left(service)])
        finally:
            others.end()
            memory.end()
            bait.close()
    _judge_others(report, alone, others)
    return report


def _try(service: Service, file: HostileFile, bait: Bait, memory: Memory, most: int) -> Outcome:
    importer = Importer(service.port, make_account(service.app))
    with tempfile.TemporaryDirectory(prefix="canopy-made-") as folder:
        content = file.make(Makers(Path(folder), bait, most))
    memory.begin()
    began = time.monotonic()
    upload = importer.upload(content, file.filename)
    answered = time.monotonic() - began
    record, size, is_leaked = None, 0, False
    if upload.status == 202:
        own = f"/v1/imports/{upload.data['id']}"
        record = importer.wait(upload.data["id"], lambda now: now["status"] != "reading")
        pages = [importer.send("GET", path) for path in (own, f"{own}/features?per_page=100")]
        size, is_leaked = max(map(_size, pages)), SECRET in repr(pages)
    ended = time.monotonic() - began
    found = memory.worker, memory.web
    return Outcome(file, len(content), upload, answered, ended, record, size, is_leaked, found)


def _size(answer: Answer) -> int:
    return len(repr(answer.body))


def _left(service: Service) -> list[str]:
    """What a step has left in the instance folder; it may still be about to delete its file."""
    end = time.monotonic() + _TIDY
    while (left := list((service.folder / "imports").glob("*/*"))) and time.monotonic() < end:
        time.sleep(POLL)
    return [f"left in the instance folder: {left}"] if left else []


def _line(made: Outcome) -> str:
    worker, web = (size // MEGABYTE for size in made.memory)
    return (
        f"  {made.file.name:38} {made.size / MEGABYTE:5.1f} MB  {made.answered:5.2f} s "
        f"{made.ended:5.1f} s  {worker:4} MB {web:4} MB  {made.said[:100]}"
    )


def _judge(report: TrialReport, made: Outcome, faults: Sequence[str]) -> None:
    name, expected = made.file.name, made.file.message
    if expected is None:
        is_right = made.record is None and 400 <= made.upload.status < 500
    elif made.record is None:
        is_right = False
    elif expected:
        is_right = made.record["status"] == "failed" and expected in made.record["message"]
    else:
        is_right = made.record["status"] in ("ready", "failed") and _UNHELPFUL not in str(
            made.record["message"]
        )
    report.check(is_right, f"{name}: {made.said}")
    report.check(not made.is_leaked, f"{name}: the secret is shown")
    report.check(not faults, f"{name}: {faults}")
    report.check(made.shown <= RECORD, f"{name}: an answer has {made.shown / MEGABYTE:.1f} MB")
    report.check_time(name, made.ended, SECONDS)
    for what, size in zip(("the worker", "a web process"), made.memory, strict=True):
        report.check(size < MEMORY, f"{name}: {what} had {size / MEGABYTE:.0f} MB")


def _judge_others(report: TrialReport, alone: Sequence[float], others: Any) -> None:
    beside = others.take()
    report.lines += [
        f"  others alone  {shown(list(alone))}",
        f"  beside them   {shown(beside)}",
    ]
    report.check(not others.wrong, f"others were answered {set(others.wrong)}")
    allowed = max(UNHARMED, SLOWER * percentile(alone, 99))
    report.check_time("a request of others (p99)", percentile(beside, 99), allowed)
