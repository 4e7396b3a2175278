"""A real worker for imports, which can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from flask import Flask

from config import ROOT
from tests.imports.making import read
from tests.make import Client
from tests.make.apps import CHEAP_PASSWORDS

_PATIENCE = 120.0  # seconds


@contextmanager
def running(app: Flask, valkey_url: str) -> Iterator[int]:
    """A worker of all queues: that of the general one starts what a dead worker has left. Gives its
    process id."""
    settings = app.config["SETTINGS"]
    environ = {
        "INSTANCE_PATH": str(settings.instance_path),
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": valkey_url,
        "LOG_LEVEL": "error",
        "PATH": os.environ["PATH"],
        **CHEAP_PASSWORDS,
    }
    command = [sys.executable, "worker.py"]
    with subprocess.Popen(command, cwd=ROOT, env=environ, start_new_session=True) as process:
        try:
            yield process.pid
        finally:
            process.terminate()


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _descendants(pid: int) -> list[int]:
    return [each for child in _children(pid) for each in (child, *_descendants(child))]


def kill_all(pid: int) -> None:
    """Kill a worker with all its processes, as a power cut does."""
    for each in [pid, *_descendants(pid)]:
        with suppress(ProcessLookupError):  # it ended by itself
            os.kill(each, signal.SIGKILL)


def wait_until(
    client: Client, import_id: str, condition: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Read an import again and again until the condition holds."""
    end = time.monotonic() + _PATIENCE
    while not condition(record := read(client, import_id)):
        assert time.monotonic() < end, record
        time.sleep(0.1)
    return record
