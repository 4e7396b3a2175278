"""Valkey, Sentinel, pgbouncer, haproxy and nginx, with the configuration that operators get."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from subprocess import Popen
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from config import ROOT
from tests.deploy.debian import Program
from tests.deploy.programs import without_user
from tests.waiting import wait_for
from trials.machines.hosts import Host
from trials.machines.postgresql import PASSWORD, PostgresHost

VALKEY_PASSWORD = "the-valkey-password"  # as in deploy/hosts
_ONCE = Retry(NoBackoff(), 0)
_FOLDER = ROOT / "deploy" / "hosts"


def shipped(name: str) -> str:
    """A configuration that operators get."""
    return (_FOLDER / name).read_text()


class ValkeyHost:
    """Valkey on a host, and on request a Sentinel beside it."""

    def __init__(self, host: Host, program: Program) -> None:
        self.host, self._program = host, program
        self.control = Redis(host.address, password=VALKEY_PASSWORD, socket_timeout=2, retry=_ONCE)

    def begin(self, *, replica_of: str = "") -> None:
        """Start it, empty.

        Args:
            replica_of: address of the primary; "" when this is it.
        """
        text = shipped("valkey.conf").replace("/var/lib/valkey", str(self.host.folder))
        if replica_of:
            text = re.sub(r"^# (replicaof) \S+", rf"\1 {replica_of}", text, flags=re.MULTILINE)
        self._start("valkey.conf", text)
        wait_for(self._answers)

    def begin_sentinel(self) -> None:
        """Start a Sentinel here, which knows nothing yet."""
        self._start("sentinel.conf", shipped("sentinel.conf"), "--sentinel")

    def _start(self, name: str, text: str, *options: str) -> None:
        file = self.host.folder / name
        file.write_text(text)
        command = [self._program.path, str(file), *options]
        log = name.replace(".conf", ".log")
        self.host.start(command, self._program.environ, log=log, folder=self.host.folder)

    def _answers(self) -> bool:
        with contextlib.suppress(RedisError):
            return bool(self.control.ping())
        return False


def sentinel_primary(hosts: Sequence[Host]) -> str:
    """The address of Valkey's primary, as the Sentinels say that respond; "" when they differ."""
    found = set()
    for host in hosts:
        with contextlib.suppress(RedisError):
            asked: Any = Redis(
                host.address, 26379, password=VALKEY_PASSWORD, socket_timeout=0.5, retry=_ONCE
            )
            answer = asked.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")
            found.add(answer[0].decode())
    return found.pop() if len(found) == 1 else ""


def start_pgbouncer(server: PostgresHost, program: Program) -> Popen[bytes]:
    """pgbouncer in front of PostgreSQL on the same host; again after it was killed."""
    folder = server.host.folder / "pgbouncer"
    if not folder.exists():
        server.host.private_folder("pgbouncer")
    text = shipped("pgbouncer.ini").replace("/etc/pgbouncer", str(folder))
    text = re.sub("(?m)^listen_addr = .*", f"listen_addr = {server.host.address}", text)
    text = re.sub("(?m)^pool_mode = .*", "pool_mode = transaction", text)
    server.host.write(f"{folder}/pgbouncer.ini", text)
    server.host.write(f"{folder}/userlist.txt", f'"canopy" "{PASSWORD}"\n')
    command = [program.path, f"{folder}/pgbouncer.ini"]
    process = server.host.start(command, program.environ, log="pgbouncer.log", is_unprivileged=True)
    wait_for(lambda: is_open(server.host.address, 6432))
    return process


class Haproxy:
    """haproxy on ports 80 and 443."""

    def __init__(self, host: Host, program: Program, certificate: Path) -> None:
        self._socket = f"{host.folder}/admin.sock"
        text = without_user(shipped("haproxy.cfg"))
        text = text.replace("/run/haproxy/admin.sock", self._socket)
        text = text.replace("/etc/haproxy/forest.example.org.pem", str(certificate))
        file = host.folder / "haproxy.cfg"
        file.write_text(text)
        host.start([program.path, "-db", "-f", str(file)], program.environ, log="haproxy.log")
        wait_for(lambda: is_open(host.address, 443))

    def take_out(self, name: str) -> None:
        """Send a web host no new requests."""
        self._command(f"set server hosts/{name} state drain")

    def take_in(self, name: str) -> None:
        """The end of ``take_out``."""
        self._command(f"set server hosts/{name} state ready")

    def _command(self, line: str) -> None:
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(self._socket)
            control.sendall(f"{line}\n".encode())
            answer = control.recv(1000)
        assert not answer.strip(), answer


class Nginx:
    """nginx on ports 80 and 443, on a host that has the settings of the kernel for it."""

    def __init__(self, host: Host, program: Program, certificate: Path) -> None:
        assignments = re.findall(r"^(net\S+) = (\d+)$", shipped("sysctl.conf"), re.MULTILINE)
        host.set_kernel(dict(assignments))
        folder = host.folder
        text = re.sub(r"/etc/letsencrypt/\S+\.pem", str(certificate), shipped("nginx.conf"))
        text = re.sub(r"^ *listen \[::\].*\n", "", text, flags=re.MULTILINE)  # there is no IPv6
        text = text.replace("/var/log/nginx", str(folder))
        self._site, self._text = folder / "site.conf", text
        self._site.write_text(text)
        names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = " ".join(f"{name}_temp_path {folder}/{name};" for name in names)
        whole = (
            f"user root; worker_processes 2; daemon off; pid {folder}/nginx.pid; "
            f"error_log {folder}/error.log; events {{}} "
            f"http {{ access_log {folder}/access.log; {paths} include site.conf; }}"
        )
        (folder / "nginx.conf").write_text(whole)
        command = [program.path, "-p", str(folder), "-c", str(folder / "nginx.conf")]
        self._process = host.start(command, program.environ, log="nginx.log")
        wait_for(lambda: is_open(host.address, 443))

    def take_out(self, name: str) -> None:
        """Send a web host no new requests."""
        place = {"web1": "10.0.0.21:8000", "web2": "10.0.0.22:8000"}[name]
        self._site.write_text(self._text.replace(f"server {place}", f"server {place} down"))
        self._process.send_signal(signal.SIGHUP)

    def take_in(self, name: str) -> None:
        """The end of ``take_out``."""
        self._site.write_text(self._text)
        self._process.send_signal(signal.SIGHUP)


def is_open(address: str, port: int) -> bool:
    """Whether a server takes connections."""
    with contextlib.suppress(OSError):
        socket.create_connection((address, port), timeout=1).close()
        return True
    return False
