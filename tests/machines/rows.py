"""All rows, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.machines import database_rows, host_rows, service_rows, valkey_rows
from tests.machines.topology import Setup

Cause = Callable[[Any], None]


@dataclass(frozen=True)
class Row:
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


ROWS = (
    Row("web-cut", "the link of a web host goes down", host_rows.web_cut),
    Row("web-killed", "a web host is killed (SIGKILL)", host_rows.web_killed),
    Row(
        "path-cut",
        "a web host gets what the balancers send, and its replies are lost",
        host_rows.path_cut,
    ),
    Row("worker-cut", "the link of a worker host goes down", host_rows.workers_cut),
    Row("worker-killed", "a worker host is killed (SIGKILL)", host_rows.workers_killed),
    Row("valkey-killed", "Valkey is killed, and started again empty", valkey_rows.valkey_killed),
    Row("valkey-emptied", "Valkey is emptied (FLUSHALL)", valkey_rows.valkey_emptied),
    Row(
        "valkey-failed-over",
        "Valkey's primary is cut off, later killed, and Sentinel replaces it",
        valkey_rows.valkey_failed_over,
        Setup(has_sentinel=True),
    ),
    Row(
        "primary-killed",
        "PostgreSQL's primary is killed, and a standby promoted",
        database_rows.primary_killed,
    ),
    Row(
        "primary-vanished",
        "the link of PostgreSQL's primary goes down, and a standby is promoted",
        database_rows.primary_vanished,
    ),
    Row(
        "standby-lost",
        "the only synchronous standby is killed",
        database_rows.standby_lost,
        Setup(standbys=1),
    ),
    Row(
        "standby-of-two-lost",
        "the link of one of two synchronous standbys (ANY 1) goes down",
        database_rows.standby_of_two_lost,
    ),
    Row(
        "asynchronous",
        "an asynchronous standby that lags behind is promoted; this loses writes",
        database_rows.asynchronous,
        Setup(standbys=1, synchronous=""),
        loses=True,
    ),
    Row(
        "pgbouncer-session",
        "pgbouncer (pool_mode session) is killed, then the primary",
        database_rows.pgbouncer_killed,
        Setup(pool_mode="session"),
        ("pgbouncer",),
    ),
    Row(
        "pgbouncer-transaction",
        "pgbouncer (pool_mode transaction) is killed, then the primary",
        database_rows.pgbouncer_killed,
        Setup(pool_mode="transaction"),
        ("pgbouncer",),
    ),
    Row(
        "upgrade",
        "the schema goes one revision further, then host after host is upgraded",
        service_rows.rolling_upgrade,
    ),
    Row(
        "clocks",
        "the clocks of the hosts differ by up to 25 minutes",
        service_rows.clocks_apart,
        Setup(clocks=service_rows.CLOCKS),
        ("cc",),
    ),
)
