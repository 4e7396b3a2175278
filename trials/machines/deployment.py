"""The service on several hosts: what stands where, with the addresses of deploy/hosts."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from flask import Flask

from app.db.connections import close_all
from app.db.migrations import upgrade
from app.factory import create_app
from config import ROOT, load_settings
from tests.deploy.debian import Program
from tests.deploy.programs import postgres_folder
from tests.instances.customers import Customer, Instance
from tests.make import make_account
from tests.make.apps import CHEAP_PASSWORDS
from tests.outbound.authority import Authority, make_authority
from tests.waiting import wait_for
from trials.faults.traffic import Writer
from trials.machines.clients import BACK, Endpoint, Timeline, burst
from trials.machines.hosts import CLIENT, Host
from trials.machines.postgresql import Cluster, PostgresHost
from trials.machines.servers import (
    VALKEY_PASSWORD,
    Haproxy,
    Nginx,
    ValkeyHost,
    sentinel_primary,
    start_pgbouncer,
)

ADDRESSES = {
    "haproxy": "10.0.0.10",
    "nginx": "10.0.0.11",
    "web1": "10.0.0.21",
    "web2": "10.0.0.22",
    "worker1": "10.0.0.31",
    "worker2": "10.0.0.32",
    "db1": "10.0.0.41",
    "db2": "10.0.0.42",
    "db3": "10.0.0.43",
    "valkey1": "10.0.0.51",
    "valkey2": "10.0.0.52",
    "valkey3": "10.0.0.53",
}
WEB_PORT = 8000
WORKERS = 2  # processes of each web server
ANY_OF_THREE = "ANY 1 (db1, db2, db3)"  # as in deploy/hosts/postgresql.conf
RATE = 5.0  # writes a second of each writer
PLAN_LIMIT = 40
EXACT = {200: PLAN_LIMIT, 429: PLAN_LIMIT}
PLANS = f"""
[wide]
requests_per_minute = 1_000_000
requests_per_day = 100_000_000
[narrow]
requests_per_minute = {PLAN_LIMIT}
"""


@dataclass(frozen=True)
class Setup:
    """How the hosts of a trial differ from those of others."""

    standbys: int = 2
    has_pgbouncer: bool = False  # through which the service then connects
    has_sentinel: bool = False


class PgBouncers:
    """pgbouncer on each database host, if there is to be one."""

    def __init__(self, cluster: Cluster, setup: Setup, programs: Mapping[str, Program]) -> None:
        self._cluster = cluster
        if setup.has_pgbouncer:
            self._program = programs["pgbouncer"]
            self._processes = {each.name: self._start(each) for each in cluster.servers}

    def restart(self) -> None:
        """Kill that of the primary, and start it again."""
        primary = self._cluster.primary
        self._processes[primary.name].kill()
        self._processes[primary.name] = self._start(primary)

    def _start(self, server: PostgresHost) -> subprocess.Popen[bytes]:
        return start_pgbouncer(server, self._program)


@dataclass
class Process:
    """A web server or a worker on a host."""

    host: Host
    environ: Mapping[str, str]
    port: int | None = None  # of a web server
    root: Path = ROOT  # of its version of the service

    @property
    def endpoint(self) -> Endpoint:
        assert self.port is not None
        return Endpoint(self.host.name, self.host.address, self.port)

    def begin(self) -> None:
        """Start it."""
        program = ["-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
        if self.port is None:
            program = ["worker.py"]
        own = {"INSTANCE_PATH": f"{self.host.folder}/instance", "HOST": self.host.address}
        own |= {"PORT": str(self.port)} if self.port else {}
        self.process = self.host.start(
            [sys.executable, *program], {**self.environ, **own}, log="service.log", folder=self.root
        )

    def wait(self) -> None:
        """Wait until a web server is ready."""
        wait_for(lambda: self.endpoint.get("/readyz").status == 200, 60)

    def end(self) -> None:
        """SIGTERM, as in an upgrade, and wait for its end."""
        self.process.terminate()
        self.process.wait(20)


@dataclass
class Machines:
    """A running service, and what a trial needs of it."""

    app: Flask
    hosts: Mapping[str, Host]
    web: list[Process]
    workers: list[Process]
    endpoints: list[Endpoint]  # of the clients, to the balancers
    cluster: Cluster
    authority: Authority
    stack: ExitStack
    folder: Path
    valkeys: list[ValkeyHost]
    pgbouncers: PgBouncers
    balancers: Sequence[Haproxy | Nginx]
    timeline: Timeline = field(default_factory=Timeline)
    customers: list[Customer] = field(default_factory=list)  # of the trial

    def fault(
        self,
        what: str,
        begin: Callable[[], object],
        end: Callable[[], object],
        seconds: float,
        allowed: float = BACK,
    ) -> None:
        """Bring a fault about, and end it.

        Args:
            seconds: how long it lasts.
            allowed: seconds until all is good again, after its beginning and after its end.
        """
        self.timeline.note(what, allowed, allowed)
        begin()
        time.sleep(seconds)
        self.timeline.note("that is over", allowed, allowed)
        end()

    def write(self) -> list[Writer]:
        """Two writers on each endpoint, of which one repeats its requests; each writes for one of
        ``customers``."""
        kinds = [(endpoint, repeats) for endpoint in self.endpoints for repeats in (True, False)]
        instance = Instance(self.folder, self.app, 0, self.authority, self.stack)
        self.customers = [instance.customer("wide", address=CLIENT) for _ in kinds]
        return [
            Writer(endpoint.connect, customer.client, RATE, repeats=repeats)
            for (endpoint, repeats), customer in zip(kinds, self.customers, strict=True)
        ]

    def limited(self) -> Counter[int]:
        """The statuses of twice as many requests as a plan allows, over all web hosts at once."""
        client = make_account(self.app, plan="narrow")
        return burst([process.endpoint for process in self.web], client, 2 * PLAN_LIMIT)

    def host(self, name: str) -> Host:
        return self.hosts[name]

    def sentinel_primary(self) -> str:
        return sentinel_primary([each.host for each in self.valkeys])

    def process(self, name: str) -> Process:
        """The web server or worker of a host."""
        (found,) = (each for each in self.web + self.workers if each.host.name == name)
        return found


@contextmanager
def machines(folder: Path, setup: Setup, programs: Mapping[str, Program]) -> Iterator[Machines]:
    """All hosts, with everything started. They are gone at the end."""
    folder.mkdir(mode=0o755)
    with ExitStack() as stack:
        hosts = {}
        for name, address in ADDRESSES.items():
            hosts[name] = Host(name, address, folder / name)
            stack.callback(hosts[name].remove)
        authority = make_authority(folder)
        valkeys = _start_valkeys(hosts, setup, programs)
        cluster = _start_databases(hosts, setup)
        pgbouncers = PgBouncers(cluster, setup, programs)
        environ = _settings(folder, authority, cluster, setup)
        app = stack.enter_context(_operators_app(folder, environ))
        web, workers = _start_service(hosts, environ)
        balancers = _start_balancers(hosts, authority, programs)
        made = Machines(
            app, hosts, web, workers, _endpoints(authority), cluster, authority, stack, folder,
            valkeys, pgbouncers, balancers,
        )  # fmt: skip
        wait_for(
            lambda: all(endpoint.get("/readyz").status == 200 for endpoint in made.endpoints), 30
        )
        yield made


def _start_valkeys(
    hosts: Mapping[str, Host], setup: Setup, programs: Mapping[str, Program]
) -> list[ValkeyHost]:
    """One, or a primary, its replica, and three Sentinels."""
    names = ("valkey1", "valkey2", "valkey3") if setup.has_sentinel else ("valkey1",)
    found = [ValkeyHost(hosts[name], programs["valkey-server"]) for name in names]
    found[0].begin()
    if setup.has_sentinel:
        found[1].begin(replica_of=ADDRESSES["valkey1"])
        for each in found:
            each.begin_sentinel()
        wait_for(lambda: sentinel_primary([each.host for each in found]) == ADDRESSES["valkey1"])
    return found


def _start_databases(hosts: Mapping[str, Host], setup: Setup) -> Cluster:
    names = [f"db{number}" for number in range(1, setup.standbys + 2)]
    servers = [PostgresHost(hosts[name], postgres_folder()) for name in names]
    return Cluster(servers, ANY_OF_THREE)


def _settings(folder: Path, authority: Authority, cluster: Cluster, setup: Setup) -> dict[str, str]:
    """The settings of all hosts."""
    plans = folder / "plans.toml"
    plans.write_text(PLANS)
    redis_url = f"redis://:{VALKEY_PASSWORD}@{ADDRESSES['valkey1']}:6379/0"
    if setup.has_sentinel:
        places = ",".join(f"{ADDRESSES[f'valkey{number}']}:26379" for number in (1, 2, 3))
        redis_url = f"redis+sentinel://:{VALKEY_PASSWORD}@{places}/mymaster/0"
        redis_url += f"?sentinel_password={VALKEY_PASSWORD}"
    found = {
        "SECRET_KEY": "the-secret-key-of-all-the-hosts-of-this-test",
        "PLANS_FILE": str(plans),
        "LOG_LEVEL": "info",
        "WEBHOOK_ALLOWED_NETWORKS": f"{CLIENT}/32",
        "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
        "DATABASE_URL": cluster.url(6432 if setup.has_pgbouncer else 5432),
        "REDIS_URL": redis_url,
        "PUBLIC_URL": f"https://{ADDRESSES['haproxy']}",
        "TRUSTED_PROXIES": "1",
        "WEB_WORKERS": str(WORKERS),
        **CHEAP_PASSWORDS,
    }
    return found | ({"PGBOUNCER_POOL_MODE": "transaction"} if setup.has_pgbouncer else {})


def _start_service(
    hosts: Mapping[str, Host], environ: Mapping[str, str]
) -> tuple[list[Process], list[Process]]:
    web = [Process(hosts[name], environ, WEB_PORT) for name in ("web1", "web2")]
    workers = [Process(hosts[name], environ) for name in ("worker1", "worker2")]
    for each in web + workers:
        each.begin()
    for each in web:
        each.wait()
    return web, workers


def _start_balancers(
    hosts: Mapping[str, Host], authority: Authority, programs: Mapping[str, Program]
) -> tuple[Haproxy, Nginx]:
    certificate = authority.certificate_for([ADDRESSES["haproxy"], ADDRESSES["nginx"]])
    haproxy = Haproxy(hosts["haproxy"], programs["haproxy"], certificate)
    nginx = Nginx(hosts["nginx"], programs["nginx"], certificate)
    return haproxy, nginx


def _endpoints(authority: Authority) -> list[Endpoint]:
    """Those of the clients."""
    return [
        Endpoint(name, ADDRESSES[name], 443, authority.ca_path, may_close=name == "haproxy")
        for name in ("haproxy", "nginx")
    ]


@contextmanager
def _operators_app(folder: Path, environ: Mapping[str, str]) -> Iterator[Flask]:
    """The application in this process, with the schema made: the operator's commands."""
    app = create_app(load_settings({"INSTANCE_PATH": str(folder / "operator"), **environ}))
    with app.app_context():
        upgrade()
    yield app
    with app.app_context():
        close_all()
