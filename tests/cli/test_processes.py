"""Commands as processes of their own."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from config import ROOT
from tests.captured import captured
from tests.make.features import DISTRICTS


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "INSTANCE_PATH": str(tmp_path / "instance")}


def canopy(
    environment: dict[str, str], *arguments: str, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command from another folder than the repository, with nobody to be asked."""
    command = [sys.executable, "-P", "-m", "app.cli", *arguments]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(command, env=environment, cwd="/", text=True, **given | options)


@pytest.mark.slow
def test_the_first_commands_of_a_new_instance(environment: dict[str, str]) -> None:
    assert canopy(environment, "migrate").returncode == 0
    made = canopy(
        environment, "account", "create", "--name", "Grün", "--owner-email", "a@example.org",
        "--json",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    account = json.loads(made.stdout)["account_id"]
    with subprocess.Popen(["cat", str(DISTRICTS)], stdout=subprocess.PIPE) as file:
        words = ("import", "-", "--account", account, "--json")
        imported = canopy(environment, *words, stdin=file.stdout)
    assert imported.returncode == 1
    assert imported.stderr == ""
    assert json.loads(imported.stdout)["summary"]["new"] == 4


@pytest.mark.trial
def test_an_import_on_a_terminal_shows_its_progress(environment: dict[str, str]) -> None:
    canopy(environment, "migrate")
    canopy(environment, "account", "create", "--name", "A", "--owner-email", "a@example.org")
    ours, theirs = pty.openpty()
    seen: list[bytes] = []
    reader = threading.Thread(target=_read_all, args=(ours, seen))
    reader.start()
    result = canopy(environment, "import", str(DISTRICTS), "--account", "a", stderr=theirs)
    os.close(theirs)
    reader.join()
    os.close(ours)
    shown = b"".join(seen).decode()
    assert result.returncode == 1
    assert "Importing" in shown
    assert "100%" in shown
    assert "Importing" not in result.stdout


def _read_all(descriptor: int, into: list[bytes]) -> None:
    try:
        while data := os.read(descriptor, 4096):
            into.append(data)
    except OSError:  # how a terminal ends whose other side was closed
        pass


@pytest.mark.trial
def test_the_commands_of_flask_migrate_stay(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "db", "upgrade"]
    result = captured(command, env=environment, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert "INFO    Running upgrade  -> " in result.stderr
    listed = canopy(environment, "account", "list", "--json")
    assert json.loads(listed.stdout) == []
    assert listed.stderr == ""
