"""What happens to the hosts in each trial, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trials.machines import database_faults, host_faults, service_changes, valkey_faults
from trials.machines.topology import Setup

Cause = Callable[[Any], None]


@dataclass(frozen=True)
class Trial:
    """Something that happens to hosts.

    ``programs``: those that it needs besides PostgreSQL, Valkey, haproxy and nginx.
    ``loses``: acknowledged writes may be lost, in principle.
    """

    name: str
    description: str
    cause: Cause
    setup: Setup = field(default_factory=Setup)
    programs: Sequence[str] = ()
    loses: bool = False


TRIALS = (
    Trial("web-cut", "the link of a web host goes down", host_faults.web_cut),
    Trial("web-killed", "a web host is killed (SIGKILL)", host_faults.web_killed),
    Trial(
        "path-cut",
        "a web host gets what the balancers send, and its replies are lost",
        host_faults.path_cut,
    ),
    Trial("worker-cut", "the link of a worker host goes down", host_faults.workers_cut),
    Trial("worker-killed", "a worker host is killed (SIGKILL)", host_faults.workers_killed),
    Trial(
        "valkey-killed", "Valkey is killed, and started again empty", valkey_faults.valkey_killed
    ),
    Trial("valkey-emptied", "Valkey is emptied (FLUSHALL)", valkey_faults.valkey_emptied),
    Trial(
        "valkey-failed-over",
        "Valkey's primary is cut off, later killed, and Sentinel replaces it",
        valkey_faults.valkey_failed_over,
        Setup(has_sentinel=True),
    ),
    Trial(
        "primary-killed",
        "PostgreSQL's primary is killed, and a standby promoted",
        database_faults.primary_killed,
    ),
    Trial(
        "primary-vanished",
        "the link of PostgreSQL's primary goes down, and a standby is promoted",
        database_faults.primary_vanished,
    ),
    Trial(
        "standby-lost",
        "the only synchronous standby is killed",
        database_faults.standby_lost,
        Setup(standbys=1),
    ),
    Trial(
        "standby-of-two-lost",
        "the link of one of two synchronous standbys (ANY 1) goes down",
        database_faults.standby_of_two_lost,
    ),
    Trial(
        "asynchronous",
        "an asynchronous standby that lags behind is promoted; this loses writes",
        database_faults.asynchronous,
        Setup(standbys=1, synchronous=""),
        loses=True,
    ),
    Trial(
        "pgbouncer-session",
        "pgbouncer (pool_mode session) is killed, then the primary",
        database_faults.pgbouncer_killed,
        Setup(pool_mode="session"),
        ("pgbouncer",),
    ),
    Trial(
        "pgbouncer-transaction",
        "pgbouncer (pool_mode transaction) is killed, then the primary",
        database_faults.pgbouncer_killed,
        Setup(pool_mode="transaction"),
        ("pgbouncer",),
    ),
    Trial(
        "upgrade",
        "the schema goes one revision further, then host after host is upgraded",
        service_changes.rolling_upgrade,
    ),
    Trial(
        "clocks",
        "the clocks of the hosts differ by up to 25 minutes",
        service_changes.clocks_apart,
        Setup(clocks=service_changes.CLOCKS),
        ("cc",),
    ),
)
