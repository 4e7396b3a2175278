"""The service itself: ``bin/serve`` without its set-up."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from app.jobs.queue import QUEUES
from tests.processes.instances import Instance, Marked, fetch
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def real(environment: dict[str, str]) -> Iterator[Instance]:
    folder = Path(environment["INSTANCE_PATH"])
    folder.mkdir()
    folder.chmod(0o755)  # others may enter it
    instance = Instance(ROOT, folder, environment | {"METRICS_TOKEN": "a" * 20})
    yield instance
    instance.process.kill()
    instance.close()


def test_the_service(real: Instance, marked: Marked, tmp_path: Path) -> None:
    assert real.process.stdout is not None
    assert real.process.stdout.readline() != "", real.end()
    for path in ("/healthz", "/api/health", "/readyz"):
        wait_for(lambda path=path: told(real.port, path)["status"] == "ok")  # type: ignore[misc]
    log = (real.folder / "logs" / "worker.log").read_text()
    for queue in QUEUES:
        assert f"worker {queue}: ready" in log
    _check_parent(marked.pids("app.preload")[0])
    made = {path.name: path.stat().st_mode for path in real.folder.iterdir()}
    assert [name for name, mode in made.items() if mode & 0o077] == []
    real.send(signal.SIGTERM)
    assert real.end() == (0, "")
    wait_for(lambda: not marked.pids())
    assert not list(real.folder.glob("canopy.sqlite3-*"))  # its log was written back
    with closing(sqlite3.connect(shutil.copy(real.folder / "canopy.sqlite3", tmp_path))) as copy:
        assert copy.execute("SELECT count(*) FROM projects").fetchone() == (24,)


def _check_parent(pid: int) -> None:
    """The process that web server and worker are forked from has nothing that they must not share:
    no thread, and no connection."""
    assert len(list(Path(f"/proc/{pid}/task").iterdir())) == 1
    targets = [str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()]
    assert len([each for each in targets if each.startswith("socket:")]) == 1  # on which it listens
    assert not any("canopy.sqlite3" in each for each in targets)


def told(port: int, path: str) -> dict[str, Any]:
    """What a page for monitoring says, whatever its status; nothing before the server listens."""
    try:
        said: dict[str, Any] = json.loads(fetch(port, path))
    except HTTPError as error:
        with error:
            said = json.load(error)
    except (URLError, ConnectionError, TimeoutError):
        return {}
    return said
