"""What an import needs is killed at each of its steps: it goes on, or ends as a clear failure that
leaves nothing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from app.jobs.queue import IMPORTS
from app.processes.rq_worker import workers_key
from tests.conftest import DATABASES
from tests.imports.worker import kill_all, reader
from tests.make import make_account
from tests.waiting import wait_for
from trials.faults.database_restarts import restart
from trials.faults.delivering import Service
from trials.faults.import_account import CHANGED, SAME, ImportAccount
from trials.faults.importing import ENDS, STEPS, Importer, Record
from trials.faults.trial_report import TrialReport
from trials.faults.web_kills import children

FIRST = 1.0  # seconds from a request to the first progress that it shows
WHOLE = 60.0  # seconds to read and apply 10,000 features
AGAIN = 20.0  # seconds after a fault until an import goes on
_AWAY = 2.0  # seconds for which a store is gone


class Kill(NamedTuple):
    """What is killed. ``cause`` ends when it is there again."""

    name: str
    cause: Callable[[Service], object]
    databases: Sequence[str] = DATABASES
    steps: Sequence[str] = STEPS


def _kill_worker(service: Service) -> None:
    kill_all(service.worker.pid)


def _kill_job(service: Service) -> None:
    for job in children(service.worker.pid):
        os.kill(job, signal.SIGKILL)


def _kill_valkey(service: Service) -> None:
    service.valkey.kill()
    time.sleep(_AWAY)
    service.valkey.start()


KILLS: Final = (
    Kill("worker", _kill_worker),
    Kill("job", _kill_job, steps=STEPS[1:]),  # one that dies too often while it reads fails
    Kill("database", lambda service: restart(service, _AWAY), DATABASES[1:]),
    Kill("valkey", _kill_valkey),  # the last: meanwhile the step goes on, perhaps to its end
)


def import_kills(
    service: Service, features: int = 10_000, kills: Sequence[str] = ("job", "valkey", "database")
) -> TrialReport:
    """Import a file undisturbed; then again, while all is killed that it needs.

    Args:
        kills: what is killed at every step; the worker is killed in any case.
    """
    report = TrialReport()
    wanted = [
        kill
        for kill in KILLS
        if kill.name in {*kills, "worker"} and service.database in kill.databases
    ]
    wait_for(lambda: service.valkey.control.scard(workers_key(IMPORTS)), 30)
    _Run(service, report, features).undisturbed()
    _Run(service, report, features).killed(wanted)
    return report


class _Run:
    """An import from its upload to its undoing, in an account of its own."""

    def __init__(self, service: Service, report: TrialReport, features: int) -> None:
        client = make_account(service.app)
        self._service, self._report = service, report
        self._account = ImportAccount(service.app, client, features)
        self._importer = Importer(service.port, client)
        self._content = self._account.content()
        self._id = ""

    def undisturbed(self) -> None:
        took = {step: self._timed(step) for step in STEPS}
        lines = [
            f"{step} {seconds:.1f} s (first progress {first:.2f} s)"
            for step, (seconds, first) in took.items()
        ]
        self._report.lines.append(f"  {self._account.features:,} features: {', '.join(lines)}")
        for step, (_, first) in took.items():
            self._report.check_time(f"the first progress of {step}", first, FIRST)
        whole = took["reading"][0] + took["applying"][0]
        self._report.check_time("reading and applying", whole, WHOLE)

    def killed(self, kills: Sequence[Kill]) -> None:
        """Kill each at each step; before all, the process that reads the file."""
        self._upload()
        self._lose_reader()
        for step in STEPS:
            if step != "reading":
                self._begin(step)
            chosen = [kill for kill in kills if step in kill.steps]
            for number, kill in enumerate(chosen, 1):
                self._kill(step, kill, number / (len(chosen) + 1))
            self._end(step, "after the kills")

    def _timed(self, step: str) -> tuple[float, float]:
        """Do a step. Returns the seconds it took, and those until the first progress was shown."""
        began = time.monotonic()
        if step == "reading":
            self._upload()
        else:
            self._begin(step)
        self._wait(lambda now: now["progress"]["done"] > 0 or now["status"] != step)
        first = time.monotonic() - began
        self._wait(lambda now: now["status"] != step)
        seconds = time.monotonic() - began
        self._end(step, "undisturbed")
        return seconds, first

    def _lose_reader(self) -> None:
        """Kill the process that reads the file. The import has to fail; then have it read again."""
        self._wait_for_part("reading", 0.3)
        os.kill(reader(self._service.worker.pid), signal.SIGKILL)
        began = time.monotonic()
        record = self._wait(lambda now: now["status"] != "reading")
        seconds = time.monotonic() - began
        self._report.lines.append(
            f"  reading, the reader killed: {record['status']} after {seconds:.1f} s: "
            f"{record['message']}"
        )
        self._report.check(record["status"] == "failed", f"without a reader: {record['status']}")
        self._account.check_untouched(self._report, "without a reader")
        self._read_again()

    def _read_again(self) -> None:
        again = self._importer.send("PUT", f"/v1/imports/{self._id}", {"match": "external_id"})
        self._report.check(again.status == 200, f"not read again: {again}")

    def _kill(self, step: str, kill: Kill, part: float) -> None:
        """Kill something once a part of a step is done, and see that the step goes on."""
        before = self._wait_for_part(step, part)
        if before["status"] == ENDS["reading"]:  # a short file was read before anybody looked
            self._read_again()
            before = self._wait_for_part(step, 0)
        if before["status"] != step:
            self._report.check(False, f"{step} ended before {kill.name} was killed")
            return
        kill.cause(self._service)
        began, at_first = time.monotonic(), self._wait(lambda now: True)
        what = f"{step}, {kill.name} killed at {before['progress']['done']:,}"
        if at_first["status"] != step:
            self._report.lines.append(f"  {what}: {at_first['status']} meanwhile")
            return
        after = self._wait(
            lambda now: (now["status"], now["progress"]) != (step, at_first["progress"])
        )
        seconds = time.monotonic() - began
        self._report.lines.append(
            f"  {what}: goes on after {seconds:.1f} s at {after['progress']['done']:,}"
        )
        self._report.check_time(f"{step} without its {kill.name}", seconds, AGAIN)

    def _end(self, step: str, when: str) -> None:
        """Wait for the end of a step, and check what it left."""
        record = self._wait(lambda now: now["status"] != step)
        when = f"{step} {when}"
        self._report.check(
            record["status"] == ENDS[step], f"{when}: {record['status']}, {record['message']}"
        )
        account, counts = self._account, record["counts"]
        found = tuple(counts[name] for name in ("new", "changed", "same", "rejected"))
        self._report.check(
            found == (account.new, CHANGED, SAME, 0), f"{when}: the counts are {counts}"
        )
        if step == "reading":
            account.check_untouched(self._report, when)
        elif step == "applying":
            account.check_applied(self._report, when)
        else:
            undone = (counts["undone"], counts["kept"])
            self._report.check(
                undone == (account.new + CHANGED - 1, 1), f"{when}: the counts are {counts}"
            )
            account.check_undone(self._report, when, self._kept)

    def _upload(self) -> None:
        self._id = self._importer.upload(self._content, match="external_id").data["id"]

    def _begin(self, step: str) -> None:
        if step == "undoing":
            self._kept = self._change_one()
        self._importer.begin(self._id, step)

    def _change_one(self) -> str:
        """Somebody changes a project that the import created. Returns its id."""
        path = f"/v1/imports/{self._id}/features?verdict=new&per_page=1"
        project_id: str = self._importer.send("GET", path).body["data"][0]["project_id"]
        changed = self._importer.send(
            "PUT", f"/v1/projects/{project_id}", {"description": "Changed since."}
        )
        assert changed.status == 200, changed
        return project_id

    def _wait_for_part(self, step: str, part: float) -> Record:
        least = part * self._account.features
        return self._wait(lambda now: now["progress"]["done"] >= least or now["status"] != step)

    def _wait(self, condition: Callable[[Record], bool]) -> Record:
        return self._importer.wait(self._id, condition)
