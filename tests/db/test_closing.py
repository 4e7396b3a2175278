"""Whatever ends last writes SQLite's log back: its file alone is the database then, and can be
copied."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from config import ROOT
from tests import templates
from tests.ports import free_port
from tests.processes.instances import fetch
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.slow

_KILLED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("CREATE TABLE written (number)")
connection.execute("INSERT INTO written VALUES (7)")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def environ(scratch: Path, tmp_path: Path, valkey_url: str) -> dict[str, str]:
    templates.copy_sqlite(tmp_path / "instance")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    settings = {"REDIS_URL": f"{valkey_url}?db=7", "SECRET_KEY": secrets.token_urlsafe(48)}
    return kept | settings | {"INSTANCE_PATH": str(tmp_path / "instance")}


def test_after_the_web_server(environ: dict[str, str], tmp_path: Path) -> None:
    port = free_port()
    command = ["-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]

    def responds() -> bool:
        try:
            return '"database":"ok"' in fetch(port, "/api/health")
        except OSError:
            return False

    _run_and_stop(command, environ | {"PORT": str(port)}, tmp_path, responds)
    _check_copy(environ, tmp_path)


def test_after_the_worker(environ: dict[str, str], tmp_path: Path) -> None:
    def is_ready() -> bool:
        return "worker canopy: ready" in (tmp_path / "log").read_text()

    _run_and_stop(["worker.py"], environ, tmp_path, is_ready)
    _check_copy(environ, tmp_path)


def test_after_a_command(environ: dict[str, str], tmp_path: Path) -> None:
    _leave_a_log(environ)
    command = [sys.executable, "-m", "app.cli", "account", "list"]
    subprocess.run(command, cwd=ROOT, env=environ, check=True, stdout=subprocess.DEVNULL)
    _check_copy(environ, tmp_path)


def _run_and_stop(
    command: list[str], environ: Mapping[str, str], folder: Path, is_ready: Callable[[], bool]
) -> None:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=dict(environ), stdout=log, stderr=log
        )
    try:
        wait_for(is_ready)
        _leave_a_log(environ)
        process.terminate()
        assert process.wait(PATIENCE) == 0, (folder / "log").read_text()
    finally:
        process.kill()
        process.wait()


def _leave_a_log(environ: Mapping[str, str]) -> None:
    """Have a process write and be killed, as happens to jobs and web processes."""
    database = Path(environ["INSTANCE_PATH"]) / templates.SQLITE
    subprocess.run([sys.executable, "-c", _KILLED, str(database)], check=False)
    assert _log(database).stat().st_size


def _check_copy(environ: Mapping[str, str], folder: Path) -> None:
    database = Path(environ["INSTANCE_PATH"]) / templates.SQLITE
    assert not _log(database).exists()
    with closing(sqlite3.connect(shutil.copy(database, folder / "copy"))) as copy:
        assert copy.execute("SELECT number FROM written").fetchall() == [(7,)]


def _log(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")
