"""The hosts in their short form, without root: processes on ports of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.processes import embedded
from tests.outbound.authority import make_authority
from tests.ports import free_port
from trials.faults.delivering import OUTSIDE
from trials.machines.database_faults import primary_killed
from trials.machines.hosts import Host
from trials.machines.postgresql import LOOPBACK, Cluster, PostgresHost
from trials.machines.programs import packaged_postgres_folder
from trials.machines.service import Deployment, Process, operators_app, settings
from trials.machines.trial import run

SYNCHRONOUS = "ANY 1 (db1, db2)"


@pytest.fixture
def deployment(scratch: Path) -> Iterator[Deployment]:
    """Two web servers and two workers, and a PostgreSQL that fails over to another address."""
    folder = scratch / "machines"
    folder.mkdir()
    with ExitStack() as stack:
        hosts = {}
        for name in ("db1", "db2", "web1", "web2", "worker1", "worker2"):
            hosts[name] = Host(name, LOOPBACK, folder / name)
            stack.callback(hosts[name].kill)
        programs = packaged_postgres_folder()
        servers = [PostgresHost(hosts[name], programs, free_port()) for name in ("db1", "db2")]
        cluster = Cluster(servers, SYNCHRONOUS)
        authority = make_authority(folder)
        environ = settings(
            folder,
            authority,
            OUTSIDE,
            DATABASE_URL=cluster.url(),
            REDIS_URL=embedded.ensure(folder / "valkey"),
            WEB_WORKERS="1",
        )
        stack.callback(embedded.release, folder / "valkey")
        app = stack.enter_context(operators_app(folder, environ))
        web = [Process(hosts[name], environ, free_port()) for name in ("web1", "web2")]
        workers = [Process(hosts[name], environ) for name in ("worker1", "worker2")]
        for each in web + workers:
            each.begin()
        for each in web:
            each.wait()
        endpoints = [each.endpoint for each in web]
        yield Deployment(
            app, folder, environ, web, workers, endpoints, cluster, authority, OUTSIDE, stack, hosts
        )


@pytest.mark.trial
@pytest.mark.provokes(503)
def test_a_promoted_standby_loses_nothing(deployment: Deployment) -> None:
    report = run(deployment, lambda at: primary_killed(at, noticed=1, lasts=4), calm=1)
    assert report.wrong == [], "\n".join(report.lines)
