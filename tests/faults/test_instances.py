"""The faults that a whole instance meets, in their short form. Their figures are for
``python -m tests.faults``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import DATABASES
from tests.faults.delivering import service
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
