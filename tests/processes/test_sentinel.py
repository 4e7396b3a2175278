"""The worker behind Sentinels: what it does when the primary is replaced."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from app.jobs.queue import DELIVERIES
from app.jobs.valkey import connect_valkey
from app.jobs.wake_signals import WakeSignal
from tests.jobs.sentinel import Group, Server, sentinel_group
from tests.processes.conftest import restore_constants
from tests.waiting import PATIENCE, wait_for

_SIGNAL = WakeSignal("deliveries", DELIVERIES, 60, "deliver")


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    folder = tmp_path / "group"
    folder.mkdir()
    with sentinel_group(folder) as group:
        yield group


@pytest.fixture
def log(tree: Path, environment: dict[str, str], group: Group, tmp_path: Path) -> Iterator[Path]:
    """The log of a worker that runs on the primary."""
    restore_constants(tree, "app/jobs/valkey.py")
    environment["REDIS_URL"] = group.url
    command, path = [sys.executable, str(tree / "worker.py")], tmp_path / "worker.log"
    with path.open("wb") as output:
        worker = subprocess.Popen(command, env=environment, stderr=output)
    try:
        yield path
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
    finally:
        worker.kill()
        worker.wait()


def _kill(server: Server, _: Group) -> None:
    server.kill()


def _stop(server: Server, _: Group) -> None:
    server.send(signal.SIGSTOP)


def _replace(_: Server, group: Group) -> None:
    group.sentinels[0].control.sentinel_failover("forests")


def _begun(instance: Path) -> list[int]:
    """How many jobs of each queue have begun."""
    files = [instance / "ticks", instance / "deliveries"]
    return [len(file.read_text().splitlines()) if file.exists() else 0 for file in files]


@pytest.mark.trial
@pytest.mark.parametrize("fault", [_kill, _stop, _replace])
def test_jobs_go_on_soon_after_the_primary_is_gone(
    log: Path, group: Group, environment: dict[str, str], fault: Callable[[Server, Group], None]
) -> None:
    instance = Path(environment["INSTANCE_PATH"])
    wait_for(lambda: all(_begun(instance)))
    primary = group.primary
    fault(primary, group)
    group.wait_for_failover(primary)
    before = _begun(instance)

    def go_on() -> bool:
        with contextlib.suppress(RedisError, OSError):
            _SIGNAL.notify(connect_valkey(group.url))
        return all(now > then for now, then in zip(_begun(instance), before, strict=True))

    wait_for(go_on)
    loggers = ["app.processes.job_worker", "app.jobs.scheduler"]
    wait_for(lambda: all(_is_over(log, each) for each in loggers))
    for logger in loggers:  # and says once that it is gone, however often it tries
        told = ["is back" in line for line in _told(log, logger)]
        assert told == [False, True] * (len(told) // 2), _told(log, logger)


def _is_over(log: Path, logger: str) -> bool:
    told = _told(log, logger)
    return not told or "is back" in told[-1]


def _told(log: Path, logger: str) -> list[str]:
    """The warnings and errors of a logger."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [
        line["message"] for line in lines if line["level"] != "INFO" and line["logger"] == logger
    ]
