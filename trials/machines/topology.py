"""What stands on which host, with the addresses of deploy/hosts."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.deploy.debian import Program
from tests.outbound.authority import Authority, make_authority
from tests.waiting import wait_for
from trials.faults.moved_clock import MovedClock
from trials.machines.clients import Endpoint
from trials.machines.network import CLIENT, NamespaceHost
from trials.machines.postgresql import Cluster, PostgresHost
from trials.machines.programs import postgres_folder
from trials.machines.servers import (
    VALKEY_PASSWORD,
    Haproxy,
    Nginx,
    ValkeyHost,
    sentinel_primary,
    start_pgbouncer,
)
from trials.machines.service import Deployment, Process, operators_app, settings

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


@dataclass(frozen=True)
class Setup:
    """How the hosts of a trial differ from those of others."""

    standbys: int = 2
    synchronous: str = ANY_OF_THREE
    pool_mode: str = ""  # of pgbouncer, through which the service then connects
    has_sentinel: bool = False
    clocks: Mapping[str, int] = field(default_factory=dict)  # seconds that hosts are ahead


class PgBouncers:
    """pgbouncer on each database host, if there is to be one."""

    def __init__(self, cluster: Cluster, setup: Setup, programs: Mapping[str, Program]) -> None:
        self._cluster, self._mode = cluster, setup.pool_mode
        if self._mode:
            self._program = programs["pgbouncer"]
            self._processes = {each.name: self._start(each) for each in cluster.servers}

    def restart(self) -> None:
        """Kill that of the primary, and start it again."""
        primary = self._cluster.primary
        self._processes[primary.name].kill()
        self._processes[primary.name] = self._start(primary)

    def _start(self, server: PostgresHost) -> subprocess.Popen[bytes]:
        return start_pgbouncer(server, self._program, self._mode)


@dataclass
class Machines(Deployment):
    """A service whose hosts have a link each."""

    valkeys: list[ValkeyHost] = field(default_factory=list)
    pgbouncers: PgBouncers | None = None
    balancers: Sequence[Haproxy | Nginx] = ()

    def host(self, name: str) -> NamespaceHost:
        found = self.hosts[name]
        assert isinstance(found, NamespaceHost)
        return found

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
            hosts[name] = NamespaceHost(name, address, folder / name)
            stack.callback(hosts[name].remove)
        authority = make_authority(folder)
        valkeys = _start_valkeys(hosts, setup, programs)
        cluster = _start_databases(hosts, setup)
        pgbouncers = PgBouncers(cluster, setup, programs)
        environ = settings(folder, authority, CLIENT, **_addresses(cluster, setup))
        app = stack.enter_context(operators_app(folder, environ))
        _set_clocks(hosts, setup)
        web, workers = _start_service(hosts, environ)
        made = Machines(
            app,
            folder,
            environ,
            web,
            workers,
            _endpoints(authority),
            cluster,
            authority,
            CLIENT,
            stack,
            hosts,
            valkeys=valkeys,
            pgbouncers=pgbouncers,
            balancers=_start_balancers(hosts, authority, programs),
        )
        wait_for(
            lambda: all(endpoint.get("/readyz").status == 200 for endpoint in made.endpoints), 30
        )
        yield made


def _start_valkeys(
    hosts: Mapping[str, NamespaceHost], setup: Setup, programs: Mapping[str, Program]
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


def _start_databases(hosts: Mapping[str, NamespaceHost], setup: Setup) -> Cluster:
    names = [f"db{number}" for number in range(1, setup.standbys + 2)]
    servers = [PostgresHost(hosts[name], postgres_folder()) for name in names]
    return Cluster(servers, setup.synchronous)


def _addresses(cluster: Cluster, setup: Setup) -> dict[str, str]:
    """The settings that say where everything is."""
    redis_url = f"redis://:{VALKEY_PASSWORD}@{ADDRESSES['valkey1']}:6379/0"
    if setup.has_sentinel:
        places = ",".join(f"{ADDRESSES[f'valkey{number}']}:26379" for number in (1, 2, 3))
        redis_url = f"redis+sentinel://:{VALKEY_PASSWORD}@{places}/mymaster/0"
        redis_url += f"?sentinel_password={VALKEY_PASSWORD}"
    found = {
        "DATABASE_URL": cluster.url(6432 if setup.pool_mode else None),
        "REDIS_URL": redis_url,
        "PUBLIC_URL": f"https://{ADDRESSES['haproxy']}",
        "TRUSTED_PROXIES": "1",
        "WEB_WORKERS": str(WORKERS),
    }
    return found | ({"PGBOUNCER_POOL_MODE": setup.pool_mode} if setup.pool_mode else {})


def _start_service(
    hosts: Mapping[str, NamespaceHost], environ: Mapping[str, str]
) -> tuple[list[Process], list[Process]]:
    web = [Process(hosts[name], environ, WEB_PORT) for name in ("web1", "web2")]
    workers = [Process(hosts[name], environ) for name in ("worker1", "worker2")]
    for each in web + workers:
        each.begin()
    for each in web:
        each.wait()
    return web, workers


def _start_balancers(
    hosts: Mapping[str, NamespaceHost], authority: Authority, programs: Mapping[str, Program]
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


def _set_clocks(hosts: Mapping[str, NamespaceHost], setup: Setup) -> None:
    for name, seconds in setup.clocks.items():
        hosts[name].environ = MovedClock(hosts[name].folder, seconds).environ
