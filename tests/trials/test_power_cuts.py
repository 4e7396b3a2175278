"""What somebody was told outlasts a power cut, in the short form of ``bin/trials power``; and its
record notices what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from trials.faults.power_cuts import power_cuts, recorded
from trials.faults.trial_report import CannotCause, TrialReport

pytestmark = pytest.mark.slow

_WITHOUT_WAITING = """
from app.db import engines
prepare = engines._prepare_sqlite
def _prepare(connection, record):
    prepare(connection, record)
    connection.execute("PRAGMA synchronous=NORMAL")
engines._prepare_sqlite = _prepare
"""


@pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.trial)]
)
def test_what_was_told_outlasts_a_power_cut(database: str, tmp_path: Path) -> None:
    assert _cut(database, tmp_path).wrong == []


def test_a_commit_that_does_not_wait_for_the_disk_is_noticed(tmp_path: Path) -> None:
    wrong = _cut("sqlite", tmp_path, _WITHOUT_WAITING).wrong
    assert {"a project was told, and is missing", "a sign-up was told, and is missing"} <= {*wrong}


def _cut(database: str, folder: Path, code: str = "") -> TrialReport:
    try:
        with recorded(database, folder, code=code) as running:
            return power_cuts(running, seconds=2, cuts=15)
    except CannotCause as error:
        pytest.skip(str(error))
