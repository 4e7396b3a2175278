"""What happens to the hosts in each trial."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from flask_migrate import upgrade

from config import ROOT
from tests.db.later_version import folder_with_revisions
from tests.outbound.receivers import answering
from tests.waiting import wait_for
from trials.machines.deployment import ADDRESSES, EXACT, Machines, Setup

LASTS = 12.0  # seconds that a fault lasts
STEP = 3.0  # seconds between the steps of an upgrade
NOTICED = 3.0  # seconds until the operator promotes a standby
DELAY = 1.0  # seconds
LIMITS = 10.0  # seconds until limits hold again
BALANCERS = (ADDRESSES["haproxy"], ADDRESSES["nginx"])


def web_cut(at: Machines) -> None:
    web = at.host("web1")
    at.fault("the link of web1 is down", web.cut, web.join, LASTS)
    time.sleep(LASTS / 2)


def web_killed(at: Machines) -> None:
    process = at.process("web1")
    at.fault("all processes of web1 are killed", at.host("web1").kill, process.begin, LASTS)
    process.wait()
    time.sleep(LASTS / 2)


def path_cut(at: Machines) -> None:
    web = at.host("web1")
    what = "nothing gets back from web1 to the balancers"
    at.fault(
        what, partial(web.drop_replies_to, *BALANCERS), partial(web.reply_to, *BALANCERS), LASTS
    )
    time.sleep(LASTS / 2)


def workers_cut(at: Machines) -> None:
    _have_requests_in_flight(at)
    for name in ("worker1", "worker2"):
        worker = at.host(name)
        at.fault(f"the link of {name} is down", worker.cut, worker.join, LASTS, allowed=0)
        time.sleep(LASTS / 4)


def workers_killed(at: Machines) -> None:
    _have_requests_in_flight(at)
    for name in ("worker1", "worker2"):
        what = f"all processes of {name} are killed"
        at.fault(what, at.host(name).kill, at.process(name).begin, LASTS, allowed=0)
        time.sleep(LASTS / 2)


def _have_requests_in_flight(at: Machines) -> None:
    """Have receivers respond so late that workers have always claimed some deliveries."""
    for customer in at.customers:
        customer.inbox.answer = answering(delay=DELAY)
    time.sleep(2 * DELAY)


def valkey_killed(at: Machines) -> None:
    at.timeline.note("Valkey is killed", 0, 0)
    at.host("valkey1").kill()
    time.sleep(LASTS)
    at.timeline.note("it starts again, empty", 0, 0)
    at.valkeys[0].begin()
    _wait_for_limits(at)


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
    wait_for(lambda: at.limited() == EXACT, LIMITS)
    at.timeline.note(f"limits hold again after {time.monotonic() - began:.1f} s", 0, 0)
    time.sleep(LASTS / 2)


def primary_killed(at: Machines) -> None:
    at.timeline.note("the primary's host is killed", None, None)
    at.cluster.primary.kill()
    _promote(at)


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
    at.timeline.note("the only standby is killed; commits wait for it", None, 0)
    standby.kill()
    time.sleep(2 * LASTS)
    at.timeline.note("it starts again")
    standby.begin()
    time.sleep(LASTS / 2)


def pgbouncer_killed(at: Machines) -> None:
    at.timeline.note("pgbouncer of the primary is killed, and started again")
    at.pgbouncers.restart()
    time.sleep(LASTS / 2)
    at.timeline.note("the primary's host is killed", None, None)
    at.cluster.primary.kill()
    time.sleep(NOTICED)
    at.cluster.promote()
    at.pgbouncers.restart()  # else it says that the server is read-only, as it was
    at.timeline.note(f"{at.cluster.primary.name} is promoted, and its pgbouncer started again")
    time.sleep(LASTS)


def _promote(at: Machines) -> None:
    time.sleep(NOTICED)
    at.cluster.promote()
    at.timeline.note(f"{at.cluster.primary.name} is promoted")
    time.sleep(LASTS)


def rolling_upgrade(at: Machines) -> None:
    later = _later_version(at.folder / "later")
    at.timeline.note("the schema is migrated to a revision on which this version runs", 0, 0)
    with at.app.app_context():
        upgrade(directory=str(later / "migrations"))
    time.sleep(STEP)
    for process in at.web + at.workers:
        name = process.host.name
        at.timeline.note(f"{name} stops, and starts as the next version", 0, 0)
        for balancer in at.balancers if process.port else ():
            balancer.take_out(name)
        time.sleep(STEP)  # what it still has is answered
        process.end()
        process.root = later
        process.begin()
        if process.port:
            process.wait()
        for balancer in at.balancers if process.port else ():
            balancer.take_in(name)
        time.sleep(STEP)


def _later_version(folder: Path) -> Path:
    """This version, and a revision of the schema that is still to come."""
    folder_with_revisions(folder, True)
    shutil.copytree(ROOT / "app", folder / "app", ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.glob("*.py"):
        shutil.copy(file, folder)
    return folder


@dataclass(frozen=True)
class Trial:
    """Something that happens to hosts. ``programs``: that it needs besides those of all."""

    name: str
    description: str
    cause: Callable[[Machines], None]
    setup: Setup = field(default_factory=Setup)
    programs: Sequence[str] = ()


TRIALS: Final = (
    Trial("web-cut", "the link of a web host goes down", web_cut),
    Trial("web-killed", "a web host is killed (SIGKILL)", web_killed),
    Trial("path-cut", "a web host gets requests, and its replies are lost", path_cut),
    Trial("worker-cut", "the link of a worker host goes down", workers_cut),
    Trial("worker-killed", "a worker host is killed (SIGKILL)", workers_killed),
    Trial("valkey-killed", "Valkey is killed, and started again empty", valkey_killed),
    Trial(
        "valkey-failed-over",
        "Valkey's primary is cut off, later killed, and Sentinel replaces it",
        valkey_failed_over,
        Setup(has_sentinel=True),
    ),
    Trial("primary-killed", "the primary is killed, and a standby promoted", primary_killed),
    Trial(
        "primary-vanished", "the primary's link goes down, a standby is promoted", primary_vanished
    ),
    Trial("standby-lost", "the only standby is killed", standby_lost, Setup(standbys=1)),
    Trial(
        "pgbouncer",
        "pgbouncer (pool_mode transaction) is killed, then the primary",
        pgbouncer_killed,
        Setup(has_pgbouncer=True),
        ("pgbouncer",),
    ),
    Trial("upgrade", "the schema goes one revision further, then each host", rolling_upgrade),
)
