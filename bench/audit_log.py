"""How quick the audit log of an account is that has a million entries, and what it costs to write.

python -m bench.audit_log              SQLite
python -m bench.audit_log --postgres   PostgreSQL, a server of its own
python -m bench.audit_log --write      written into docs/measured/audit-log.md too
python -m bench.audit_log --quick      only sees that it works

The entries are of 30 days, 50 people and 2,000 projects. The job seals some while one client
creates projects. Pages are asked in-process, one after the other: the first time, when
nothing is counted yet, and the median of the times after it. The database's files are in the
memory of the operating system, not only on the disk.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final
from unittest import mock
from urllib.parse import urlencode

from flask import Flask
from flask.testing import FlaskClient

from app.audit.log import jobs, sealing
from app.audit.log.files import proof_lines, write_file
from app.audit.proof.verification import Verifier
from app.factory import create_app
from app.models import AuditEntry
from app.policy.audit import ACTIONS
from app.projects import service
from app.values import clock
from app.values.ids import new_id_at
from app.values.strict_json import canonical
from bench.databases import measure_on_chosen
from bench.effort import Effort
from bench.filling import BATCH, make_accounts, vacuum
from bench.instance import boundary
from bench.webhook_log import insert_rows
from config import ROOT, load_settings

FULL: Final = Effort(rounds=9, seconds=20.0)
_ENTRIES: Final = 1_000_000
_DAYS: Final = 30
_TARGET: Final = 100  # milliseconds
_HEAD: Final = "| What | First time | Then | Target | |\n|---|---:|---:|---:|---|"
_COLUMNS: Final = "| What | Result |\n|---|---:|"
_COMMON: Final = ("project.updated", "asset.updated", "person.signed_in", "project.created")

_OF_COMMON: Final = 0.9

Row = tuple[Any, ...]


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    """The tables of one database."""
    url, number = new_database(), effort.number(_ENTRIES)
    app, environ, principals, key = make_accounts(folder, url, 1)
    account_id = principals[0].account_id
    with app.app_context():
        rows = _rows(account_id, number)
        while batch := list(islice(rows, BATCH)):
            insert_rows(url, AuditEntry.__table__, batch)
    vacuum(url)
    writes = _Writes(app, key)
    with_boundary = _Writes(app, key, with_boundary=True)
    costs = [
        *_cost_of_an_entry("a project with a name alone", writes, effort),
        *_cost_of_an_entry("one with a boundary of 51 positions", with_boundary, effort),
        *_sealing(app, environ, writes, effort),
    ]
    vacuum(url)
    pages = []
    for what, path in _pages():
        _read_files(folder.parent)
        pages.append(_line(app.test_client(), key, what, path, effort.rounds))
    return "\n".join([_HEAD, *pages, "", _COLUMNS, *costs, *_files(app, account_id)])


def _pages() -> Iterator[tuple[str, str]]:
    """What each page is, and its address."""
    ago = {days: clock.format_time(clock.now() - timedelta(days=days)) for days in (10, 11)}
    day = {"since": ago[11], "until": ago[10]}
    person, project, action = _person(7), _project(7), "project.updated"
    for what, query in (
        ("page 1", {}),
        ("page in the middle", {"page": 25_000}),
        ("one action", {"action": action}),
        ("one person", {"actor_id": person}),
        ("one project", {"target_id": project}),
        ("one action of one person", {"action": action, "actor_id": person}),
        ("one person, one project", {"actor_id": person, "target_id": project}),
        ("a rare action", {"action": "account.deleted"}),
        ("an action that one person never did", {"action": "member.removed", "actor_id": person}),
        ("one day", day),
        ("one action, one day", {**day, "action": action}),
        ("one person, one day", {**day, "actor_id": person}),
    ):
        yield what, f"/v1/audit-log?{urlencode(query)}"


class _Writes:
    """Creates projects, and notes how long each took, in milliseconds."""

    def __init__(self, app: Flask, key: str, *, with_boundary: bool = False) -> None:
        self._client, self._headers = app.test_client(), {"Authorization": f"Bearer {key}"}
        self._number, self._with_boundary = 0, with_boundary

    def once(self) -> float:
        self._number += 1
        body: dict[str, Any] = {"name": f"Written {self._number}"}
        if self._with_boundary:
            body = {"name": f"Drawn {self._number}", "geometry": boundary(self._number)}
        began = time.perf_counter()
        answer = self._client.post("/v1/projects", json=body, headers=self._headers)
        assert answer.status_code == 201, answer.text
        return (time.perf_counter() - began) * 1000

    def until(self, is_over: Callable[[], bool]) -> list[float]:
        times = [self.once() for _ in range(5)]
        while not is_over():
            times.append(self.once())
        return times

    def during(self, seconds: float) -> list[float]:
        end = time.monotonic() + seconds
        return self.until(lambda: time.monotonic() > end)


def _cost_of_an_entry(what: str, writes: _Writes, effort: Effort) -> Iterator[str]:
    """The time of writing an entry, as a part of the request that creates a project."""
    inside = list[float]()
    record = service.record

    def timed(*arguments: Any, **options: Any) -> str:
        began = time.perf_counter()
        made = record(*arguments, **options)
        inside.append((time.perf_counter() - began) * 1000)
        return made

    with mock.patch.object(service, "record", timed):
        whole = statistics.median(writes.during(effort.seconds))
    of_entry = statistics.median(inside)
    yield f"| creating {what} | {whole:.2f} ms |"
    yield f"| of that, writing its entry | {of_entry:.2f} ms ({of_entry / whole:.0%}) |"


def _sealing(app: Flask, environ: dict[str, str], writes: _Writes, effort: Effort) -> Iterator[str]:
    """Sealing for a while, one run of the job after the other, in a process of its own. What is
    left is then sealed without pauses."""
    alone = writes.during(effort.seconds)
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "-c", f"from bench.audit_log import seal; seal({effort.seconds})"]
    process = subprocess.Popen(command, env=own | environ, cwd=ROOT, stdout=subprocess.PIPE)
    meanwhile = writes.until(lambda: process.poll() is not None)
    output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"The job ended with status {process.returncode}.")
    yield f"| entries sealed in a second of the job | {float(output):,.0f} |"
    for what, times in (("before", alone), ("meanwhile", meanwhile)):
        yield f"| creating a project {what}: median | {statistics.median(times):.1f} ms |"
        yield f"| creating a project {what}: p99 | {_percentile(times, 99):.1f} ms |"
    with (
        app.app_context(),
        mock.patch.object(jobs, "pause_after"),
        mock.patch.object(sealing, "SEALED_AFTER", timedelta()),
    ):
        while jobs.seal_audit_log():
            pass


def seal(seconds: float) -> None:
    """Run the job again and again for so long, and print how many entries it sealed a second."""
    with create_app(load_settings(os.environ)).app_context():
        sealed, began = 0, time.perf_counter()
        while time.perf_counter() < began + seconds and (number := jobs.seal_audit_log()):
            sealed += number
        print(sealed / (time.perf_counter() - began))


def _files(app: Flask, account_id: str) -> Iterator[str]:
    """Files with all entries, and the verification of one, with the most memory that each takes."""
    for what, pieces in (
        ("export as NDJSON", lambda: write_file(app, account_id, "ndjson", None)),
        ("export as CSV", lambda: write_file(app, account_id, "csv", None)),
        ("export and verification", lambda: _verified(app, account_id)),
    ):
        began = time.perf_counter()
        deque(pieces(), maxlen=0)
        seconds = time.perf_counter() - began
        tracemalloc.start()
        try:
            deque(islice(pieces(), 2_000), maxlen=0)
            peak = tracemalloc.get_traced_memory()[1] / 1e6
        finally:
            tracemalloc.stop()
        yield f"| {what} | {seconds:.0f} s, {peak:.1f} MB |"


def _verified(app: Flask, account_id: str) -> Iterator[bytes]:
    verifier = Verifier()
    for line in proof_lines(app, account_id):
        problems = [found for found in verifier.check(line) if found.is_problem]
        assert not problems, problems
        yield line


def _read_files(folder: Path) -> None:
    """Read all files below a folder into the memory of the operating system."""
    for path in filter(Path.is_file, folder.rglob("*")):
        with suppress(FileNotFoundError), path.open("rb") as file:  # PostgreSQL deletes some
            while file.read(1 << 20):
                pass


def _line(client: FlaskClient, key: str, what: str, path: str, rounds: int) -> str:
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        answer = client.get(path, headers={"Authorization": f"Bearer {key}"})
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, (path, answer.status)
    middle = statistics.median(times[1:])
    mark = "met" if max(middle, times[0]) <= _TARGET else "**missed**"
    return f"| {what} | {times[0]:.0f} ms | {middle:.0f} ms | ≤ {_TARGET} ms | {mark} |"


def _percentile(times: list[float], percent: int) -> float:
    return statistics.quantiles(times, n=100)[percent - 1]


def _person(number: int) -> str:
    return f"user_{number:026}"


def _project(number: int) -> str:
    return f"proj_{number:026}"


def _rows(account_id: str, number: int) -> Iterator[Row]:
    """Entries, the oldest first. Call it in an app context."""
    rng, now, others = random.Random(number), clock.now(), tuple(ACTIONS)
    for place in range(number):
        moment = now - timedelta(days=_DAYS) * (1 - place / number) - timedelta(minutes=5)
        moment = clock.to_millisecond(moment)
        action = rng.choice(_COMMON if rng.random() < _OF_COMMON else others)
        person, project = _person(rng.randrange(50)), _project(rng.randrange(2_000))
        name = {"from": f"Stand {place}", "to": f"Stand {place + 1}"}
        if action == "member.removed" and person == _person(7):
            action = _COMMON[0]
        entry = {
            "id": new_id_at("audit_entry", moment),
            "account_id": account_id,
            "at": clock.format_time(moment),
            "action": action,
            "actor": {"type": "person", "id": person, "label": "somebody@example.org"},
            "via": {
                "credential": None, "application": None, "request_id": f"req_{place:026}",
                "ip": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)",
                "import_id": None,
            },
            "target": {"type": "project", "id": project, "label": f"Stand {place}"},
            "changes": {"name": name},
            "outcome": "done",
        }  # fmt: skip
        body = canonical(entry)
        yield (
            entry["id"], account_id, action, person, project, body.decode(), "", None,
        )  # fmt: skip


def main() -> None:
    measure_on_chosen(run, "audit-log", __doc__, FULL)


if __name__ == "__main__":
    main()
