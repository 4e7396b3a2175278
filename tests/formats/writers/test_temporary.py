"""Files that leave nothing behind."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from app.formats.writers.temporary import new_database, new_file
from config import ROOT


def test_a_file_has_no_name(tmp_path: Path) -> None:
    with new_file(tmp_path) as file:
        file.write(b"content")
        assert list(tmp_path.iterdir()) == []
    assert file.read() == b"content"
    file.close()


def test_a_file_is_closed_by_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stop"), new_file(tmp_path) as file:
        raise ValueError("stop")
    assert file.closed


def test_a_database_has_no_name(tmp_path: Path) -> None:
    with new_database(tmp_path) as (connection, file):
        assert list(tmp_path.iterdir()) == []
        connection.execute("CREATE TABLE t (x)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO t VALUES (?)", ((b"x" * 1000,) for _ in range(10_000)))
        connection.execute("COMMIT")
        assert list(tmp_path.iterdir()) == []
    (tmp_path / "copy").write_bytes(file.read())
    file.close()
    copy = sqlite3.connect(tmp_path / "copy")
    assert copy.execute("SELECT count(*) FROM t").fetchone() == (10_000,)
    copy.close()


def test_a_database_is_closed_by_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stop"), new_database(tmp_path) as (_, file):
        raise ValueError("stop")
    assert file.closed
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_oserror(tmp_path: Path) -> None:
    script = "PRAGMA max_page_count=4; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000));"
    with pytest.raises(OSError, match="full"), new_database(tmp_path) as (connection, file):
        connection.executescript(script)
    assert file.closed


@pytest.mark.slow
def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    script = """
        import sys
        from pathlib import Path
        from app.formats.writers.temporary import new_database, new_file

        folder = Path(sys.argv[1])
        with new_file(folder) as file, new_database(folder) as (connection, _):
            file.write(b"x" * 1_000_000)
            connection.execute("CREATE TABLE t AS SELECT zeroblob(10000000)")
            print("ready", flush=True)
            sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, signal.SIGKILL)
    assert list(tmp_path.iterdir()) == []
