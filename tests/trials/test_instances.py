"""The faults that a whole instance meets, in their short form. Their figures are for
``bin/trials faults``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import DATABASES
from trials.faults.bad_jobs import MEMORY_MB, WORKER, bad_jobs
from trials.faults.clock_moves import clock_moves, moving_clock
from trials.faults.delivering import service
from trials.faults.disk_full import disk_full, on_small_disk
from trials.faults.hostile_files.trial import FILES, hostile_files
from trials.faults.import_kills import import_kills
from trials.faults.locked import locked
from trials.faults.trial_report import CannotCause
from trials.faults.web_kills import web_kills

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(scratch: Path, request: pytest.FixtureRequest) -> Path:
    made = scratch / f"instance{abs(hash(request.node.nodeid))}"
    made.mkdir()
    return made


# Fails where no kill met a request; tests/processes/web_server/test_spread.py has a process that is
# killed.
@pytest.mark.trial
@pytest.mark.parametrize("database", DATABASES)
def test_web_processes_that_are_killed_lose_nothing(database: str, folder: Path) -> None:
    with service(database, folder, settings={"WEB_WORKERS": "2"}) as running:
        assert web_kills(running, 8).wrong == []


def test_a_locked_database_stops_no_read(folder: Path) -> None:
    settings = {"WEB_WORKERS": "2", "DATABASE_TIMEOUT_MS": "500"}
    with service("sqlite", folder, settings=settings) as running:
        assert locked(running, seconds=1.5).wrong == []


@pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.trial)]
)
def test_a_full_disk_loses_nothing(database: str, folder: Path) -> None:
    try:
        with on_small_disk(database, folder) as running:
            assert disk_full(running, seconds=1).wrong == []
    except CannotCause as error:
        pytest.skip(str(error))


# Of real minutes, on the clock of a whole instance. tests/limits, tests/db/test_waiting.py and
# tests/values/test_clock.py move it, too.
@pytest.mark.trial
def test_a_clock_that_is_moved_leaves_all_sane(folder: Path) -> None:
    try:
        with moving_clock("sqlite", folder) as running:
            found = clock_moves(running, is_patient=False)
    except CannotCause as error:
        pytest.skip(str(error))
    assert found.wrong == []


# Counts how often jobs run in eight seconds; tests/processes/test_worker.py has jobs that are
# killed.
@pytest.mark.trial
def test_bad_jobs_harm_no_others(folder: Path) -> None:
    settings = {"JOB_MEMORY_MB": str(MEMORY_MB)}
    with service("sqlite", folder, settings=settings, worker_module=WORKER) as running:
        assert bad_jobs(running, seconds=8).wrong == []


@pytest.mark.trial
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.timeout(600)
def test_an_import_goes_on_whatever_is_killed(database: str, folder: Path) -> None:
    with service(database, folder, settings={"WEB_WORKERS": "2"}) as running:
        assert import_kills(running, 500, kills=["database", "valkey"]).wrong == []


@pytest.mark.trial
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.timeout(600)
def test_hostile_files_do_no_harm(database: str, folder: Path) -> None:
    small = [file for file in FILES if not file.is_large]
    settings = {"WEB_WORKERS": "2"}
    with service(database, folder, settings=settings, worker_module="worker") as running:
        assert hostile_files(running, small, before=1).wrong == []
