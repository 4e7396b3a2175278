"""Faults of PostgreSQL, its standbys and pgbouncer."""

from __future__ import annotations

import time

from tests.make import make_account
from trials.machines.clients import EndpointWriter
from trials.machines.service import Deployment
from trials.machines.topology import Machines

NOTICED = 3.0  # seconds until the operator promotes a standby
LASTS = 12.0
EXTRA_WRITERS = 4  # more writers to each web host
EXTRA_RATE = 4.0  # writes a second of each


def primary_killed(at: Deployment, noticed: float = NOTICED, lasts: float = LASTS) -> None:
    at.timeline.note("the primary's host is killed", None, None)
    at.cluster.primary.kill()
    _promote(at, noticed, lasts)


def primary_vanished(at: Machines) -> None:
    at.timeline.note("the primary's link is down", None, None)
    former = at.cluster.primary
    at.host(former.name).cut()
    _promote(at)
    former.kill()  # before it is back, as nobody may write to it
    at.timeline.note("the former primary is back, as a standby")
    at.host(former.name).join()
    at.cluster.attach(former)
    time.sleep(LASTS / 3)


def standby_lost(at: Machines) -> None:
    (standby,) = at.cluster.standbys
    client = make_account(at.app, plan="wide")
    at.timeline.note("the only standby is killed; commits wait for it", None, 0)
    standby.kill()
    endpoints = [process.endpoint for process in at.web] * EXTRA_WRITERS
    extra = [EndpointWriter(endpoint, client, EXTRA_RATE, repeats=False) for endpoint in endpoints]
    time.sleep(2 * LASTS)
    for writer in extra:
        writer.end()
    at.timeline.note("it starts again")
    standby.begin()
    time.sleep(LASTS / 2)


def standby_of_two_lost(at: Machines) -> None:
    standby = at.host(at.cluster.standbys[0].name)
    at.fault("the link of one of two standbys is down", standby.cut, standby.join, LASTS, allowed=0)
    time.sleep(LASTS / 3)


def asynchronous(at: Machines) -> None:
    standby = at.cluster.standbys[0]
    at.timeline.note("the link of the only standby is down, and nobody waits for it", 0, 0)
    at.host(standby.name).cut()
    time.sleep(NOTICED)
    at.timeline.note("the primary's host is gone; the standby's link is up", None, None)
    at.host(at.cluster.primary.name).cut()  # with what waits there to be sent
    at.cluster.primary.kill()
    at.host(standby.name).join()
    _promote(at)


def pgbouncer_killed(at: Machines) -> None:
    at.timeline.note("pgbouncer of the primary is killed, and started again")
    assert at.pgbouncers is not None
    at.pgbouncers.restart()
    time.sleep(LASTS / 2)
    at.timeline.note("the primary's host is killed", None, None)
    at.cluster.primary.kill()
    time.sleep(NOTICED)
    at.cluster.promote()
    at.pgbouncers.restart()  # else it says that the server is read-only, as it was
    at.timeline.note(f"{at.cluster.primary.name} is promoted, and its pgbouncer started again")
    time.sleep(LASTS)


def _promote(at: Deployment, noticed: float = NOTICED, lasts: float = LASTS) -> None:
    time.sleep(noticed)
    at.cluster.promote()
    at.timeline.note(f"{at.cluster.primary.name} is promoted")
    time.sleep(lasts)
