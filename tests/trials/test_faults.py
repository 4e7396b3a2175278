"""The faults in their short form. Their figures are for ``bin/trials faults``."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from flask import Flask

from tests.deploy.files import tool
from trials.faults import slow_clients
from trials.faults.burst import PLAN_LIMIT, REQUESTS, TIER_LIMIT, bursts
from trials.faults.members import RACES, Crew, race
from trials.faults.valkey import VALKEY_FAULTS, Fault
from trials.faults.valkey_outages import faults_of, run

pytestmark = pytest.mark.slow

_folders = itertools.count(1)


@pytest.fixture
def folder(scratch: Path) -> Path:
    made = scratch / f"fault{next(_folders)}"
    made.mkdir()
    return made


# Of figures under load; that a failing Valkey harms nobody is tested in tests/jobs/test_valkey.py.
@pytest.mark.trial
@pytest.mark.parametrize("fault", VALKEY_FAULTS, ids=lambda fault: fault.name)
def test_a_failing_store_harms_nobody(fault: Fault, folder: Path) -> None:
    report = run(fault, folder, 1)
    if report.before.limited != report.before.answers:  # a busy machine: nothing to compare with
        again = folder / "2"
        again.mkdir()
        report = run(fault, again, 1)
    assert faults_of(report) == []


# A request that Valkey does not answer in a quarter of a second is not counted, as is intended.
# tests/limits/test_at_once.py is of requests at once where it does.
@pytest.mark.trial
def test_exactly_as_many_pass_as_a_limit_allows(folder: Path, valkey_url: str) -> None:
    for of_plan, of_tier in bursts(folder, f"{valkey_url}?db=5", 3):
        assert of_plan == {200: PLAN_LIMIT, 429: REQUESTS - PLAN_LIMIT}
        assert of_tier == {200: TIER_LIMIT, 429: REQUESTS - TIER_LIMIT}


@pytest.mark.trial
def test_changes_of_members_at_once_end_as_one_after_the_other(app: Flask) -> None:
    with Crew(app.config["SETTINGS"]) as crew:
        for each in RACES:
            assert race(app, crew, each, rounds=10) == [], each.description


# Of the time of others; tests/processes/web_server/test_slow_clients.py sees who waits for slow
# clients.
@pytest.mark.trial
@pytest.mark.parametrize("proxy", slow_clients.PROXIES)
def test_slow_clients_harm_nobody(proxy: str, folder: Path) -> None:
    if proxy and tool(proxy) is None:
        pytest.skip(f"{proxy} is not installed")
    assert slow_clients.run(folder, proxy, rounds=1, seconds=2).wrong == []
