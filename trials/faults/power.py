"""The power is cut while clients write and events are delivered: what is on the disk then has all
that anybody was told.

No power is cut: what the processes write to SQLite's files and sync is recorded, and put together
as the disk has it at some moments. These are the worst that can be, when somebody has just been
told something: what was not synced before is lost, or there by chance.
"""

from __future__ import annotations

import itertools
import random
import shutil
import sqlite3
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from app.db.connections import close_all
from app.db.extensions import db
from tests.templates import SQLITE
from tests.waiting import wait_for
from trials.faults.ledger import KINDS, EverythingWriter, Told, delivered, make_key
from trials.faults.recorded_writes import Disk, Recorder
from trials.faults.service import TWO_PROCESSES, Service, service
from trials.report import Report

# A database that does not wait for the disk, which this trial has to notice.
_WITHOUT_WAITING: Final = """
from app.db import engines
prepare = engines._prepare_sqlite
def _prepare(connection, record):
    prepare(connection, record)
    connection.execute("PRAGMA synchronous=NORMAL")
engines._prepare_sqlite = _prepare
"""


def power_cuts(_: str, folder: Path, is_short: bool) -> Report:
    """Cut the power after answers and deliveries; a database that does not sync is noticed."""
    report = _cut(folder / "synced", "", is_short)
    if not is_short:
        noticed = _cut(folder / "unsynced", _WITHOUT_WAITING, is_short).wrong
        report.check(bool(noticed), "a commit that does not wait for the disk is not noticed")
    return report


def _cut(folder: Path, code: str, is_short: bool) -> Report:
    """Write and deliver for some time; then look at the disk as it was at some moments.

    Args:
        code: what the web server runs before the application is made.
    """
    folder.mkdir(0o755)
    recorder = Recorder(folder, folder.resolve() / SQLITE)
    settings = TWO_PROCESSES | recorder.environ
    with service("sqlite", folder, settings=settings, code=code) as running:
        customers = [running.customer() for _ in range(4)]
        writers = [EverythingWriter(running, customer) for customer in customers]
        position, files = _begin(running, recorder)
        end = time.monotonic() + (1 if is_short else 10)
        threads = [threading.Thread(target=writer.run, args=(end,)) for writer in writers]
        for thread in threads:
            thread.start()
        environ = {"INSTANCE_PATH": str(folder), **recorder.environ}
        told = [make_key(customers[0].client.account_id, environ)]
        for thread in threads:
            thread.join()
        wait_for(lambda: all(customer.inbox.arrivals for customer in customers))
        told += itertools.chain.from_iterable(writer.told for writer in writers)
        told += delivered(customers)
        report = Report(wrong=[writer.failure for writer in writers if writer.failure])
        _judge(report, folder, recorder, position, files, told, 15 if is_short else 100)
    return report


def _begin(running: Service, recorder: Recorder) -> tuple[int, dict[str, bytes]]:
    """Where the record begins, and by their paths the files as they are then. This process closes
    the database: what it wrote later would not be recorded."""
    base, place = running.folder / "base", running.folder.resolve()
    base.mkdir()
    with running.app.app_context():
        db.session.connection()  # nobody writes now
        position = recorder.position()
        copied = [str(place / name) for name in (SQLITE, f"{SQLITE}-wal")]
        # By another process: SQLite's locks would end when this one closes the file.
        subprocess.run(["cp", "-a", *copied, str(base)], check=True)
        db.session.rollback()
    with running.app.app_context():
        close_all()
    return position, {str(place / path.name): path.read_bytes() for path in base.iterdir()}


def _judge(
    report: Report,
    folder: Path,
    recorder: Recorder,
    position: int,
    files: Mapping[str, bytes],
    told: list[Told],
    number: int,
) -> None:
    """Cut the power when something of each kind was told, and at more such moments."""
    chance, kinds = random.Random(1), defaultdict(list)
    for each in told:
        kinds[each.kind].append(each)
    cuts = [chance.choice(some) for some in kinds.values()]
    cuts += chance.sample(told, min(number - len(cuts), len(told)))
    disk, missing = Disk(files), Counter[str]()
    calls = recorder.calls(position)
    following = next(calls, None)
    for moment in sorted(each.at for each in cuts):
        while following is not None and following.at <= moment:
            disk.follow(following)
            following = next(calls, None)
        known = [each for each in told if each.at <= moment]
        missing.update(_missing(report, folder / "copy", disk.after_power_cut(chance), known))
    report.lines = [
        f"  {len(cuts)} moments, {disk.writes:,} writes and {disk.syncs:,} syncs until the last",
        f"  told: {', '.join(f'{len(kinds[kind]):,} × {kind}' for kind in KINDS)}",
    ]
    for kind in KINDS:
        report.check(bool(kinds[kind]), f"nobody was told of {kind}")
        report.check(not missing[kind], f"{kind} was told, and is missing")


def _missing(report: Report, copy: Path, files: Mapping[str, bytes], told: list[Told]) -> set[str]:
    """The kinds of what is not in the database that these files make."""
    copy.mkdir()
    for path, content in files.items():
        (copy / Path(path).name).write_bytes(content)
    with closing(sqlite3.connect(copy / SQLITE)) as connection:
        (state,) = connection.execute("PRAGMA integrity_check").fetchone()
        report.check(state == "ok", f"integrity_check says {state}")
        found = set()
        for each in told:
            values = " AND ".join(f"{name} = :{name}" for name in each.row)
            query = f"SELECT 1 FROM {each.table} WHERE {values}"
            if connection.execute(query, each.row).fetchone() is None:
                found.add(each.kind)
    shutil.rmtree(copy)
    return found
