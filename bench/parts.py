"""What the parts of a request cost, in processor time: reads and changes.

The application is called in one process and one thread, with a real Valkey. A timer of processor
time looks at the stack: what runs then belongs to the part of the innermost function that
``PARTS`` names. Then the same requests are sent through the web server; what its process needs
beyond that is the web server's part.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from types import FrameType
from typing import Any, Final

import psycopg
from flask import Flask
from sqlalchemy import Engine, event, text
from werkzeug.test import EnvironBuilder

from app.db.connections import close_all
from app.db.extensions import db
from bench import load, report
from bench.instance import Instance, make_instance
from bench.report import Effort
from bench.servers import serve, use_last_core
from config import ROOT
from tests.make.wavy import polygon

FULL: Final = Effort(rounds=3, seconds=4.0)
# By the beginning of a function's file and name, below the repository or its packages; the
# innermost function of a stack that is in one of them decides.
PARTS: Final = {
    "limits and usage, with Valkey": ("app/limits/", "app/jobs/valkey", "flask_limiter/"),
    "credential": ("app/auth/guard", "app/auth/credentials", "app/auth/last_use", "app/security/"),
    "parsing and checking of the request": ("app/api/parsing", "app/api/requests", "app/api/body"),
    "geometry": ("app/geometry/",),
    "row and its search columns": (
        "app/projects/service", "app/projects/derived", "app/projects/reading",
        "app/projects/listing", "app/projects/record", "app/lists/",
    ),
    "history of the boundary": ("app/projects/boundary_history/",),
    "event and entry of the audit log": ("app/events/", "app/audit/"),
    "counters": ("app/usage/", "app/maintenance/history_bytes"),
    "begin and commit": (
        "app/db/write_queue", "app/db/engines", "app/db/revisions", "app/jobs/after_commit",
        "sqlalchemy/orm/session",
    ),
    "envelope and its entity tag": ("app/api/envelope", "app/http/etags"),
    "log line": ("app/http/logging",),
    "headers": ("app/http/middleware.py:start", "app/http/compression", "flask/app.py:process_"),
}  # fmt: skip
OTHERS: Final = "Flask, and what is in no other part"
_WEB_SERVER: Final = "web server"
_TICK: Final = 0.001  # seconds of processor time; the kernel may take longer
_CREATES: Final = "create, 51 positions"

_numbers = count(1)  # of what is created

Sent = tuple[str, str, bytes]  # method, path, body


class Called:
    """The application in this process, and what calling it cost."""

    def __init__(self, instance: Instance) -> None:
        os.environ.update(instance.environ)
        from wsgi import app

        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler):
                handler.setStream(Path(os.devnull).open("w"))  # noqa: SIM115 - until the end
        self.instance, self.app = instance, app
        self.samples: Counter[str] = Counter()

    def environs(self, requests: Iterator[Sent], number: int) -> list[dict[str, Any]]:
        """Requests as a web server passes them on."""
        auth = self.instance.headers
        return [
            EnvironBuilder(
                path=path.partition("?")[0], query_string=path.partition("?")[2], method=method,
                data=body or None, content_type="application/json" if body else None, headers=auth,
            ).get_environ()
            for method, path, body in islice(requests, number)
        ]  # fmt: skip

    def answer(self, environ: dict[str, Any]) -> None:
        """Raises SystemExit where the application refuses."""
        statuses: list[str] = []
        response = self.app(environ, lambda status, *_: statuses.append(status))
        for _ in response:
            pass
        response.close()
        if not statuses[0].startswith("2"):
            raise SystemExit(f"Unexpected answer: {statuses[0]}")

    @contextmanager
    def sampled(self) -> Iterator[None]:
        """Look at the stack while the block works."""
        self.samples.clear()
        former = signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, _TICK, _TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, former)

    def _look(self, _: int, frame: FrameType | None) -> None:
        self.samples[_part_of(frame)] += 1


def _part_of(frame: FrameType | None) -> str:
    while frame is not None:
        path = frame.f_code.co_filename.removeprefix(f"{ROOT}/").rpartition("site-packages/")[2]
        function = f"{path}:{frame.f_code.co_name}"
        for part, beginnings in PARTS.items():
            if function.startswith(beginnings):
                return part
        frame = frame.f_back
    return OTHERS


def cases(instance: Instance) -> dict[str, Callable[[], Iterator[Sent]]]:
    """Endless requests of each kind."""
    projects = [f"/v1/projects/{each}" for each in instance.project_ids]
    path = lambda: projects[next(_numbers) % len(projects)]  # noqa: E731

    def each(make: Callable[[], Sent]) -> Callable[[], Iterator[Sent]]:
        return lambda: iter(make, None)

    return {
        "item": each(lambda: ("GET", path(), b"")),
        "page of 100": each(lambda: ("GET", "/v1/projects?per_page=100", b"")),
        _CREATES: each(lambda: ("POST", "/v1/projects", _body(name=True))),
        "update of the name": each(lambda: ("PUT", path(), _body(name=True, geometry=False))),
        "update of the boundary": each(lambda: ("PUT", path(), _body())),
    }


def _somewhere() -> dict[str, object]:
    """Another boundary of 51 positions each time."""
    return polygon(51, -120 + next(_numbers) % 2_000 * 0.1, 40)


def _body(*, name: bool = False, geometry: bool = True) -> bytes:
    body: dict[str, Any] = {"name": f"Measured {next(_numbers)}"} if name else {}
    if geometry:
        body["geometry"] = _somewhere()
    return json.dumps(body).encode()


def of_requests(called: Called, make: Iterator[Sent], effort: Effort) -> dict[str, float]:
    """Microseconds of processor time of a request by parts, its statements and the bytes that it
    writes into the database's log."""
    number = effort.number(100)
    for environ in called.environs(make, number):
        called.answer(environ)
    with statements() as sent:
        _reopen(called.app)
        ready = called.environs(make, number + 1)
        called.answer(ready.pop())
        sent.clear()
        written = _written(called.app)
        for environ in ready:
            called.answer(environ)
        found = {"statements": sent.total() / number}
        found["bytes written"] = (_written(called.app) - written) / number
    _reopen(called.app)
    costs = []
    for _ in range(effort.rounds):
        ready = called.environs(make, effort.number(200))
        before = time.process_time()
        for environ in ready:
            called.answer(environ)
        costs.append((time.process_time() - before) / len(ready))
    least = min(costs)
    with called.sampled():
        end = time.process_time() + effort.seconds
        while time.process_time() < end:
            for environ in called.environs(make, 20):
                called.answer(environ)
    return _shares(called.samples, least) | found


def _shares(samples: Counter[str], seconds: float) -> dict[str, float]:
    """The parts of so many seconds, in microseconds."""
    scale = seconds * 1e6 / max(1, samples.total())
    return {part: samples[part] * scale for part in (*PARTS, OTHERS)}


def _reopen(app: Flask) -> None:
    """Let connections be opened anew, which ``statements`` counts, or no longer."""
    with app.app_context():
        db.session.remove()
        close_all()


def _written(app: Flask) -> int:
    """Bytes that this process has written into SQLite's log and file, or the position in
    PostgreSQL's log."""
    with app.app_context(), db.engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            position = text("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
            return int(connection.scalar(position))
    (line,) = (each for each in Path("/proc/self/io").read_text().splitlines() if "wchar" in each)
    return int(line.split()[1])


def of_the_web_server(
    instance: Instance, requests: dict[str, Iterator[Sent]], effort: Effort
) -> dict[str, float]:
    """Microseconds of processor time of the web process for a request of each kind."""
    auth = instance.headers
    found: dict[str, float] = {}
    with serve("wsgi:app", instance.environ) as server:
        for case, make in requests.items():
            costs = []
            for number in range(effort.rounds + 1):
                sent = (load.build(method, path, auth, body) for method, path, body in make)
                before = server.cpu_seconds()
                outcome = load.run(server.port, sent, connections=8, seconds=effort.seconds / 2)
                if number:
                    costs.append((server.cpu_seconds() - before) / outcome.requests * 1e6)
            found[case] = statistics.median(costs)
    return found


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    use_last_core()
    instance = make_instance(folder, database_url=new_database())
    called = Called(instance)
    makes = {case: make() for case, make in cases(instance).items()}
    found = {case: of_requests(called, make, effort) for case, make in makes.items()}
    served = of_the_web_server(instance, makes, effort)
    for case, costs in found.items():
        costs[_WEB_SERVER] = served[case] - sum(costs[part] for part in (*PARTS, OTHERS))
    _reopen(called.app)
    return table(found)


def table(found: dict[str, dict[str, float]]) -> str:
    """A column for each kind of request."""
    parts = (*PARTS, OTHERS, _WEB_SERVER)
    lines = [f"| µs | {' | '.join(found)} |", f"|---|{'---:|' * len(found)}"]
    sums = [sum(costs.get(part, 0.0) for part in parts) for costs in found.values()]
    rows = {"**all**": sums}
    rows |= {part: [costs.get(part, 0.0) for costs in found.values()] for part in parts}
    for name in ("statements", "bytes written"):
        rows[name] = [costs[name] for costs in found.values()]
    for name, figures in rows.items():
        shown = (f"{each:,.1f}" if name == "statements" else f"{each:,.0f}" for each in figures)
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return "\n".join(lines)


@contextmanager
def statements() -> Iterator[Counter[str]]:
    """The statements that this process sends to its databases meanwhile."""
    found: Counter[str] = Counter()

    def note(statement: Any, *_: Any) -> None:
        if not str(statement).startswith("--"):  # a trigger of SQLite, or what is in one
            found[str(statement)] += 1

    def trace(connection: Any, _: Any) -> None:
        driver = getattr(connection, "driver_connection", connection)
        if isinstance(driver, sqlite3.Connection):
            driver.set_trace_callback(note)

    execute = psycopg.Cursor.execute

    def counted(cursor: Any, query: Any, *more: Any, **options: Any) -> Any:
        note(query)
        return execute(cursor, query, *more, **options)

    event.listen(Engine, "connect", trace)
    psycopg.Cursor.execute = counted  # type: ignore[method-assign, assignment]
    try:
        yield found
    finally:
        psycopg.Cursor.execute = execute  # type: ignore[method-assign]
        event.remove(Engine, "connect", trace)


if __name__ == "__main__":
    report.measure(run, __doc__, FULL)
