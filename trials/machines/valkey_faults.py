"""Faults of Valkey and Sentinel."""

from __future__ import annotations

import time

from tests.waiting import wait_for
from trials.machines.service import EXACT
from trials.machines.topology import ADDRESSES, Machines

LASTS = 10.0
ALLOWED = 10.0  # seconds until limits hold again


def valkey_killed(at: Machines) -> None:
    at.timeline.note("Valkey is killed", 0, 0)
    at.host("valkey1").kill()
    time.sleep(LASTS)
    at.timeline.note("it starts again, empty", 0, 0)
    at.valkeys[0].begin()
    _wait_for_limits(at)


def valkey_emptied(at: Machines) -> None:
    at.timeline.note("Valkey is emptied every second (FLUSHALL)", 0, 0)
    for _ in range(int(LASTS)):
        at.valkeys[0].control.flushall()
        time.sleep(1)


def valkey_failed_over(at: Machines) -> None:
    at.timeline.note("the host of Valkey's primary is cut off", 0, 0)
    at.host("valkey1").cut()
    wait_for(lambda: at.sentinel_primary() == ADDRESSES["valkey2"], 30)
    at.timeline.note("Sentinel made the replica the primary", 0, 0)
    _wait_for_limits(at)
    at.timeline.note("the former primary is back, as a replica", 0, 0)
    at.host("valkey1").join()
    time.sleep(LASTS / 2)
    at.timeline.note("the host of the primary is killed", 0, 0)
    at.host("valkey2").kill()
    wait_for(lambda: at.sentinel_primary() == ADDRESSES["valkey1"], 30)
    at.timeline.note("Sentinel made the other one the primary", 0, 0)
    _wait_for_limits(at)


def _wait_for_limits(at: Machines) -> None:
    began = time.monotonic()
    wait_for(lambda: at.limited() == EXACT, ALLOWED)
    at.timeline.note(f"limits hold again after {time.monotonic() - began:.1f} s", 0, 0)
    time.sleep(LASTS / 2)
