"""Changes on SQLite come one after the other: who waits longest is next, and no one for ever."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from app.db import write_queue
from app.db.extensions import db
from app.values.deadline import Deadline
from app.values.files import open_lock_file, try_lock, unlock_file
from config import ROOT
from tests.db.writing import begin, can_begin, fails_to_begin, insert, is_locked, opened, texts
from tests.make import together
from tests.waiting import PATIENCE, wait_for

# The start of what another process runs.
OTHER = """
import os, sys, time
from pathlib import Path
from app.values.deadline import Deadline
from tests.db.writing import begin, insert, opened
path = Path(sys.argv[1])
connection = opened(path)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with one table."""
    path = tmp_path / "texts.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)")
    return path


@pytest.fixture
def database(app: Flask) -> Path:
    if not app.config["SETTINGS"].uses_sqlite:
        pytest.skip("only SQLite has the queue")
    return Path(app.config["SETTINGS"].database_url.removeprefix("sqlite:///"))


@contextmanager
def other_process(path: Path, script: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs ``script`` after ``OTHER``."""
    command = [sys.executable, "-c", OTHER + script, str(path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def is_next_taken(path: Path) -> bool:
    """Whether somebody waits to write next."""
    descriptor = open_lock_file(path.with_name(f"{path.name}.next"))
    with open(descriptor, "rb"):
        if try_lock(descriptor):
            unlock_file(descriptor)
            return False
        return True


def test_a_process_that_has_written_comes_after_the_one_that_waits(path: Path) -> None:
    script = "for _ in sys.stdin: begin(connection); insert(connection, 'other')"
    with closing(opened(path)) as connection, other_process(path, script) as other:
        begin(connection)
        for _ in range(5):
            assert other.stdin is not None
            other.stdin.write("\n")
            other.stdin.flush()
            wait_for(lambda: is_next_taken(path))
            insert(connection, "own")
            begin(connection)
    assert texts(path) == ["own", "other"] * 5


def test_threads_write_one_after_the_other(path: Path) -> None:
    def write() -> None:
        with closing(opened(path)) as connection:
            for _ in range(10):
                begin(connection)
                insert(connection, "a")

    together(*[write] * 4)
    assert len(texts(path)) == 40


def test_who_waits_in_vain_is_told_within_the_timeout(path: Path) -> None:
    with other_process(path, "begin(connection); print(1, flush=True); time.sleep(600)") as other:
        assert line_of(other) == "1"
        with closing(opened(path, 300)) as connection:
            began = time.monotonic()
            fails_to_begin(connection)
            assert 0.25 < time.monotonic() - began < 30
            assert connection.execute("PRAGMA busy_timeout").fetchone() == (300,)
    assert can_begin(path)


def test_the_queue_and_sqlite_share_one_timeout(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one ahead in the queue leaves it, but a program that is in no queue goes on writing."""
    # When the deadline is, and the milliseconds that SQLite gets.
    left: list[tuple[float, int]] = []
    name, real = "_milliseconds_left", write_queue._milliseconds_left
    monkeypatch.setattr(
        write_queue, name, lambda end: left.append((end.at, real(end))) or left[-1][1]
    )
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as outside,
        closing(opened(path, 1000)) as connection,
    ):
        outside.execute("BEGIN IMMEDIATE")
        assert connection.queue is not None
        connection.queue.enter("ahead", Deadline(60))
        behind = threading.Thread(target=lambda: fails_to_begin(connection))
        behind.start()
        time.sleep(0.4)
        moment = time.monotonic()
        connection.queue.leave("ahead")
        behind.join()
    ((end, milliseconds),) = left
    assert milliseconds / 1000 <= max(0, end - moment)
    assert can_begin(path)


def test_a_killed_process_lets_the_next_one_write(path: Path) -> None:
    with other_process(path, "begin(connection); print(1, flush=True); time.sleep(600)") as other:
        assert line_of(other) == "1"
        assert is_locked(path)
        other.kill()
        other.wait(PATIENCE)
        assert can_begin(path)


def test_a_forked_process_does_not_hold_what_its_parent_held(path: Path) -> None:
    script = """
begin(connection)
if pid := os.fork():
    print(pid, flush=True)
    time.sleep(600)
sys.stdin.read()  # until the test closes it
"""
    with other_process(path, script) as parent:
        child = int(line_of(parent))
        assert is_locked(path)
        parent.kill()
        parent.wait(PATIENCE)
        assert Path(f"/proc/{child}").exists()
        assert can_begin(path)


def test_a_forked_process_waits_in_the_queue_for_its_parent(path: Path) -> None:
    script = """
queue = connection.queue
queue.enter("parent", Deadline(60))
if pid := os.fork():
    time.sleep(0.3)
    insert(connection, "parent")
    queue.leave("parent")
    os.waitpid(pid, 0)
    begin(connection)
    insert(connection, "parent again")
    print("done", flush=True)
else:
    queue.leave("parent")  # which is its parent's to do
    own = opened(path)
    begin(own)
    insert(own, "child")
    os._exit(0)
"""
    with other_process(path, script) as parent:
        assert line_of(parent) == "done"
    assert texts(path) == ["parent", "child", "parent again"]


def test_a_change_within_a_change_fails_and_keeps_the_first(path: Path) -> None:
    with closing(opened(path)) as connection:
        begin(connection)
        with pytest.raises(sqlite3.OperationalError, match="within a transaction"):
            begin(connection)
        assert is_locked(path)
        insert(connection, "a")
        assert can_begin(path)
    assert texts(path) == ["a"]


def test_programs_without_the_queue_write_as_ever(path: Path) -> None:
    with closing(opened(path)) as connection, closing(sqlite3.connect(path)) as outside:
        insert(outside, "outside")
        begin(connection)
        later = threading.Timer(0.2, lambda: insert(connection, "own"))
        later.start()
        insert(outside, "outside again")  # after up to 5 seconds, Python's default
        later.join()
    assert texts(path)[0] == "outside"
    assert sorted(texts(path)[1:]) == ["outside again", "own"]


def test_without_lock_files_threads_still_queue_up(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.with_name(f"{path.name}.next").mkdir()  # it cannot be opened, as in a read-only folder
    with closing(opened(path)) as connection:
        for text_ in "ab":
            begin(connection)
            assert is_locked(path)
            insert(connection, text_)
    assert can_begin(path)
    assert len(caplog.messages) == 1
    assert f"{path.name}.next" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_lock_files_that_root_makes_belong_to_the_owner_of_the_database(path: Path) -> None:
    os.chown(path, 65_534, 65_534)
    with closing(opened(path)) as connection:
        begin(connection)
        insert(connection, "a")
    for name in ("next", "writer"):
        owner = path.with_name(f"{path.name}.{name}").stat()
        assert (owner.st_uid, owner.st_gid) == (65_534, 65_534)


def test_a_database_in_memory_has_no_queue() -> None:
    with closing(opened(Path(":memory:"))) as connection:
        assert connection.queue is None
        begin(connection)
        assert connection.in_transaction


def _fail(connection: Connection) -> None:
    with pytest.raises(OperationalError):
        connection.exec_driver_sql("INSERT INTO absent VALUES (1)")


@pytest.mark.parametrize(
    "end",
    [Connection.commit, Connection.rollback, Connection.invalidate, Connection.close, _fail],
)
def test_each_end_of_a_transaction_lets_the_next_one_write(
    app: Flask, database: Path, end: Callable[[Connection], Any]
) -> None:
    with app.app_context(), db.engine.connect() as connection:
        connection.begin()
        assert is_locked(database)
        end(connection)
        if end is _fail:
            assert is_locked(database)
            connection.rollback()
        assert can_begin(database)


def test_a_thread_that_dies_lets_the_next_one_write(app: Flask, database: Path) -> None:
    def die() -> None:
        with app.app_context():
            db.session.execute(text("SELECT 1"))
            assert is_locked(database)
            raise KeyError

    with pytest.raises(KeyError):
        together(die)
    assert can_begin(database)


def test_the_engine_waits_in_the_queue(app: Flask, database: Path) -> None:
    with app.app_context(), db.engine.connect() as connection, closing(opened(database)) as first:
        begin(first)
        wait = threading.Timer(0.2, first.rollback)
        wait.start()
        connection.begin()
        wait.join()
        driver: Any = connection.connection.driver_connection
        assert driver.queue is first.queue
        assert driver.queue._holder is driver
        connection.rollback()
