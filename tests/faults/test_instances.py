"""The faults that a whole instance meets, in their short form. Their figures are for
``python -m tests.faults``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import DATABASES
from tests.faults.delivering import service
from tests.faults.disk_full import disk_full, on_small_disk
from tests.faults.locked import locked
from tests.faults.trial_report import CannotCause
from tests.faults.web_kills import web_kills

pytestmark = [pytest.mark.slow, pytest.mark.one_database]


@pytest.fixture
def folder(scratch: Path, request: pytest.FixtureRequest) -> Path:
    made = scratch / f"instance{abs(hash(request.node.nodeid))}"
    made.mkdir()
    return made


@pytest.mark.parametrize("database", DATABASES)
def test_web_processes_that_are_killed_lose_nothing(database: str, folder: Path) -> None:
    with service(database, folder, settings={"WEB_WORKERS": "2"}) as running:
        assert web_kills(running, 8).wrong == []


def test_a_locked_database_stops_no_read(folder: Path) -> None:
    settings = {"WEB_WORKERS": "2", "DATABASE_TIMEOUT_MS": "500"}
    with service("sqlite", folder, settings=settings) as running:
        assert locked(running, seconds=1.5).wrong == []


@pytest.mark.parametrize("database", DATABASES)
def test_a_full_disk_loses_nothing(database: str, folder: Path) -> None:
    try:
        with on_small_disk(database, folder) as running:
            assert disk_full(running, seconds=1).wrong == []
    except CannotCause as error:
        pytest.skip(str(error))
