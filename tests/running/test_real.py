"""The service itself: ``bin/serve`` without its set-up, and its parts alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError

import pytest

from tests.running.instances import Instance, Marked, fetch, wait_for

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def real(environment: dict[str, str]) -> Iterator[Instance]:
    instance = Instance(ROOT, Path(environment["INSTANCE_PATH"]), environment)
    yield instance
    instance.process.kill()
    instance.close()


def test_the_service(real: Instance, marked: Marked) -> None:
    assert real.process.stdout is not None
    assert real.process.stdout.readline() != "", real.end()
    for path in ("/healthz", "/readyz", "/api/health"):
        assert json.loads(real.get(path))["status"] == "ok"
    log = real.folder / "logs" / "worker.log"
    wait_for(lambda: "the worker is ready" in log.read_text())
    real.send(signal.SIGTERM)
    assert real.end() == (0, "")
    assert marked.pids() == []


def test_the_web_server_alone(environment: dict[str, str], marked: Marked) -> None:
    """Flask's own starts Valkey too, so that no request waits for it."""
    command = ["-m", "flask", "run", "--port", environment["PORT"]]
    with subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment) as process:
        try:
            port = int(environment["PORT"])
            wait_for(lambda: answers(port, "/healthz"))
            assert len(marked.pids("unixsocket:")) == 1
            assert json.loads(fetch(port, "/api/health"))["checks"]["redis"] == "ok"
            assert json.loads(fetch(port, "/readyz"))["status"] == "ok"  # its tables are there
        finally:
            process.terminate()
    wait_for(lambda: not marked.pids())


def answers(port: int, path: str) -> bool:
    try:
        return bool(fetch(port, path))
    except (URLError, ConnectionError):
        return False
