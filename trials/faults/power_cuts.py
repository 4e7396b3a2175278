"""The power is cut while clients write and events are delivered: what is on the disk then has all
that anybody was told.

No power is cut: what the processes write and sync is recorded, and put together as the disk has it
at some moments. These are the worst that can be, when somebody has just been told something: what
was not synced before is lost, or there by chance.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import sqlite3
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from sqlalchemy import make_url

from app.db.connections import close_all
from app.db.extensions import db
from tests.postgres import PostgresServer
from tests.templates import SQLITE
from tests.waiting import wait_for
from trials.faults.delivering import Service, service
from trials.faults.ledger import KINDS, EverythingWriter, Told, delivered, make_key
from trials.faults.recorded_writes import Disk, Recorder
from trials.faults.trial_report import TrialReport

Find = Callable[[Told], Any]  # the row, or None

_CUTS: Final = {"sqlite": 100, "postgresql": 15}  # PostgreSQL takes seconds to start
_SEGMENT: Final = 16 * 1024 * 1024  # bytes of a file of PostgreSQL's log
# What a copy of a server that runs has, and one that has ended has not.
_RUNNING: Final = ("postmaster.pid", ".handle_pids.json", ".s.PGSQL.5432", ".s.PGSQL.5432.lock")


@dataclass
class RecordedService:
    """A service whose database is recorded: the files in ``place``, of SQLite the file and its log,
    of PostgreSQL its log. ``url``: of PostgreSQL."""

    service: Service
    recorder: Recorder
    place: Path
    url: str = ""

    @property
    def base(self) -> Path:
        """For a copy of SQLite's files, or of PostgreSQL's folder, from before all changes."""
        return self.service.folder / "base"


@contextmanager
def recorded(database: str, folder: Path, *, code: str = "") -> Iterator[RecordedService]:
    """An instance whose database is recorded.

    Args:
        code: what the web server runs before the application is made.

    Raises:
        CannotCause: as ``Recorder`` does.
    """
    folder.chmod(0o755)
    settings = {"WEB_WORKERS": "2"}
    with ExitStack() as stack:
        if database == "sqlite":
            place, url = folder.resolve(), ""
            recorder = Recorder(folder, place / SQLITE)
            settings |= recorder.environ
        else:
            place = (folder / "pg" / "pg_wal").resolve()
            recorder = Recorder(folder, place)
            with _environment(recorder.environ):
                server = stack.enter_context(PostgresServer(folder / "pg", durable=True))
            settings["DATABASE_URL"] = url = server.create_database()
        running = service("sqlite", folder, settings=settings, worker_module="worker", code=code)
        yield RecordedService(stack.enter_context(running), recorder, place, url)


@contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    """Have more variables in the environment of what this process starts."""
    os.environ.update(more)
    try:
        yield
    finally:
        for name in more:
            del os.environ[name]


def power_cuts(
    running: RecordedService, seconds: float = 10, cuts: int | None = None
) -> TrialReport:
    """Write and deliver for some time; then look at the disk as it was at some moments.

    Args:
        cuts: how many moments.
    """
    customers = [running.service.customer() for _ in range(4)]
    writers = [EverythingWriter(running.service, customer) for customer in customers]
    position, files = _begin(running)
    threads = [
        threading.Thread(target=writer.run, args=(time.monotonic() + seconds,))
        for writer in writers
    ]
    for thread in threads:
        thread.start()
    environ = {"INSTANCE_PATH": str(running.service.folder)}
    environ |= {"DATABASE_URL": running.url} if running.url else running.recorder.environ
    told = [make_key(customers[0].client.account_id, environ)]
    for thread in threads:
        thread.join()
    wait_for(lambda: all(customer.inbox.arrivals for customer in customers))
    told += itertools.chain.from_iterable(writer.told for writer in writers)
    told += delivered(customers)
    report = TrialReport(wrong=[writer.failure for writer in writers if writer.failure])
    chance = random.Random(1)
    moments = _moments(told, cuts or _CUTS["postgresql" if running.url else "sqlite"], chance)
    _judge(report, running, position, files, told, moments, chance)
    return report


def _begin(running: RecordedService) -> tuple[int, dict[str, bytes]]:
    """Where the record begins, and by their paths the files as they are then. This process closes
    the database: what it wrote later would not be recorded."""
    with running.service.app.app_context():
        db.session.connection()  # on SQLite, nobody writes now
        if running.url:
            with psycopg.connect(running.url, autocommit=True) as connection:
                connection.execute("CHECKPOINT")
        position = running.recorder.position()
        copied = [running.place / name for name in (SQLITE, f"{SQLITE}-wal")]
        if running.url:
            copied = [running.place.parent]
        else:
            running.base.mkdir()
        # By another process: SQLite's locks would end when this one closes the file.
        subprocess.run(["cp", "-a", *map(str, copied), str(running.base)], check=True)
        db.session.rollback()
    with running.service.app.app_context():
        close_all()
    copies = running.base / "pg_wal" if running.url else running.base
    return position, {
        str(running.place / path.name): path.read_bytes()
        for path in copies.iterdir()
        if path.is_file()
    }


def _moments(told: list[Told], number: int, chance: random.Random) -> list[float]:
    """When the power is cut: when something of each kind was told, and at more such moments."""
    kinds = defaultdict(list)
    for each in told:
        kinds[each.kind].append(each)
    chosen = [chance.choice(some) for some in kinds.values()]
    chosen += chance.sample(told, min(max(0, number - len(chosen)), len(told)))
    return sorted(each.at for each in chosen)


def _judge(
    report: TrialReport,
    running: RecordedService,
    position: int,
    files: Mapping[str, bytes],
    told: list[Told],
    moments: list[float],
    chance: random.Random,
) -> None:
    disk, missing = Disk(files), Counter[str]()
    calls = running.recorder.calls(position)
    following = next(calls, None)
    for moment in moments:
        while following is not None and following.at <= moment:
            disk.follow(following)
            following = next(calls, None)
        with _started(running, disk.after_power_cut(chance), report) as find:
            known = [each for each in told if each.at <= moment]
            missing.update({each.kind for each in known if find(each) is None})
    number = Counter(each.kind for each in told)
    report.lines = [
        f"  {len(moments)} moments, {disk.writes:,} writes and {disk.syncs:,} syncs until the last",
        *(
            f"  {kind:20} told {number[kind]:5,} times, missing at {missing[kind]} moments"
            for kind in KINDS
        ),
    ]
    for kind in KINDS:
        report.check(bool(number[kind]), f"nobody was told of {kind}")
        report.check(not missing[kind], f"{kind} was told, and is missing")


@contextmanager
def _started(
    running: RecordedService, files: Mapping[str, bytes], report: TrialReport
) -> Iterator[Find]:
    """The database with these files, started again: what finds a row in it."""
    copy = running.service.folder / "copy"
    subprocess.run(["cp", "-a", str(running.base), str(copy)], check=True)
    try:
        with (_postgresql if running.url else _sqlite)(running, copy, files, report) as find:
            yield find
    finally:
        shutil.rmtree(copy)


@contextmanager
def _sqlite(
    _: RecordedService, copy: Path, files: Mapping[str, bytes], report: TrialReport
) -> Iterator[Find]:
    for path, content in files.items():
        (copy / Path(path).name).write_bytes(content)
    with closing(sqlite3.connect(copy / SQLITE)) as connection:
        (state,) = connection.execute("PRAGMA integrity_check").fetchone()
        report.check(state == "ok", f"integrity_check says {state}")
        yield lambda told: connection.execute(_query(told, ":{}"), told.row).fetchone()


@contextmanager
def _postgresql(
    running: RecordedService, copy: Path, files: Mapping[str, bytes], _: TrialReport
) -> Iterator[Find]:
    """Its other files are from before all changes, which it makes again from its log."""
    for name in _RUNNING:
        (copy / name).unlink(missing_ok=True)
    for path, content in files.items():
        segment = copy / "pg_wal" / Path(path).name
        segment.write_bytes(content.ljust(_SEGMENT, b"\0"))
        os.chown(segment, copy.stat().st_uid, copy.stat().st_gid)
    with (copy / "postgresql.auto.conf").open("a") as settings:
        settings.write("fsync = off\n")  # of the copy; it has more than a thousand files
    with PostgresServer(copy) as server:
        url = make_url(server.url).set(database=make_url(running.url).database)
        with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
            yield lambda told: connection.execute(_query(told, "%({})s"), told.row).fetchone()


def _query(told: Told, parameter: str) -> Any:
    values = " AND ".join(f"{name} = {parameter.format(name)}" for name in told.row)
    return f"SELECT 1 FROM {told.table} WHERE {values}"
