"""The faults that deliveries meet, in their short form. Their figures, and those that take long,
are for ``bin/trials faults``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trials.faults import hostile
from trials.faults.database_restarts import restarts
from trials.faults.delivering import Service, service
from trials.faults.kills import kills
from trials.faults.outages import absent, flushes
from trials.faults.starvation import starved

pytestmark = pytest.mark.slow

# Of an instance whose leases last a second: a delivery that gets no turn for longer is sent twice.
# tests/webhooks/deliveries has receivers that are held by events, and leases that do not run out.


@pytest.fixture(scope="module")
def running(scratch: Path) -> Iterator[Service]:
    """An instance that these tests share, with customers of their own."""
    folder = scratch / "deliveries"
    folder.mkdir()
    with service("postgresql", folder, names=hostile.NAMES, lease_seconds=1) as made:
        yield made


@pytest.mark.trial
def test_a_worker_that_is_killed_loses_nothing(running: Service) -> None:
    assert kills(running, 4, seconds=0.2, victims=["job"]).wrong == []


@pytest.mark.trial
def test_a_store_that_is_flushed_loses_nothing(running: Service) -> None:
    assert flushes(running, seconds=1.5, every=0.3).wrong == []


@pytest.mark.trial
def test_a_store_that_was_away_loses_nothing(running: Service) -> None:
    assert absent(running, seconds=1.5).wrong == []


@pytest.mark.trial
def test_hostile_receivers_harm_nobody(running: Service) -> None:
    assert hostile.receivers(running, seconds=1.5, before=0.5, are_slow=False).wrong == []


@pytest.mark.trial
def test_a_busy_machine_sends_nothing_twice(running: Service) -> None:
    assert starved(running, seconds=7, hanging=4, loops=1).wrong == []


@pytest.mark.trial
def test_a_database_that_restarts_loses_nothing(running: Service) -> None:
    assert restarts(running, 1, away=0.5, pause=2).wrong == []
