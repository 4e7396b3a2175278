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

from app.jobs.queue import QUEUES
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
    for path in ("/healthz", "/api/health"):
        assert json.loads(real.get(path))["status"] == "ok"
    wait_for(lambda: json.loads(real.get("/readyz"))["status"] == "ok")
    log = (real.folder / "logs" / "worker.log").read_text()
    for queue in QUEUES:
        assert f"worker {queue}: ready" in log
    _check_parent(min(marked.pids("worker.py")))
    real.send(signal.SIGTERM)
    assert real.end() == (0, "")
    assert marked.pids() == []


@pytest.mark.slow
def test_the_web_server_alone(environment: dict[str, str], marked: Marked) -> None:
    """Flask's own starts Valkey too, so that no request waits for it."""
    command = ["-m", "flask", "run", "--port", environment["PORT"]]
    with subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment) as process:
        try:
            port = int(environment["PORT"])
            wait_for(lambda: answers(port, "/healthz"), 30)
            assert len(marked.pids("unixsocket:")) == 1
            assert json.loads(fetch(port, "/api/health"))["checks"]["redis"] == "ok"
            ready = json.loads(fetch(port, "/readyz"))
            # its tables are there
            assert ready["checks"] == {"database": "ok", "worker": "missing"}
        finally:
            process.terminate()
    wait_for(lambda: not marked.pids())


def _check_parent(pid: int) -> None:
    """The process that the workers of the queues are forked from has nothing that they must not
    share: no thread, and no connection."""
    assert len(list(Path(f"/proc/{pid}/task").iterdir())) == 1
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        target = str(descriptor.readlink())
        assert not target.startswith("socket:")
        assert "canopy.sqlite3" not in target


def answers(port: int, path: str) -> bool:
    try:
        return bool(fetch(port, path))
    except (URLError, ConnectionError, TimeoutError):
        return False


PARTS = {
    "serve": ["-m", "app.serve", "--empty"],
    "web server": ["-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"],
    "worker": ["worker.py"],
    "command": ["-m", "app.cli", "migrate"],
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.trial
def test_files_in_a_folder_that_others_may_enter_are_private(
    part: str, environment: dict[str, str], marked: Marked
) -> None:
    folder = Path(environment["INSTANCE_PATH"])
    folder.mkdir()
    folder.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, *PARTS[part]], cwd=ROOT, env=environment | {"METRICS_TOKEN": "a" * 20}
    ) as process:
        try:
            wait_for((folder / "canopy.sqlite3").exists, 30)
            if part == "command":
                process.wait(30)
            elif part == "worker":
                wait_for(lambda: len(marked.pids("worker.py")) == 1 + len(QUEUES), 30)
            else:
                wait_for(lambda: answers(int(environment["PORT"]), "/healthz"), 90)
            made = {path.name: path.stat().st_mode for path in folder.iterdir()}
            assert [name for name, mode in made.items() if mode & 0o077] == []
        finally:
            process.terminate()
    wait_for(lambda: not marked.pids())
