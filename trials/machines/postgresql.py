"""PostgreSQL on several hosts: a primary, its standbys, and what an operator does with them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from config import ROOT
from tests.waiting import wait_for
from trials.machines.hosts import Host

PASSWORD = "the-database-password"
_CONFIGURATION = ROOT / "deploy" / "hosts"


class PostgresHost:
    """PostgreSQL on a host. The operator is connected by its Unix socket, whatever the network."""

    def __init__(self, host: Host, programs: Path) -> None:
        self.host, self.name = host, host.name
        self._programs = programs
        self.folder = host.private_folder("pg")
        self._data = str(self.folder / "data")

    def initialize(self) -> None:
        """A new, empty database cluster."""
        options = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
        self._run("initdb", "-D", self._data, *options)
        self._configure()

    def copy(self, primary: PostgresHost) -> None:
        """Become a standby of the primary, whatever was here before."""
        self.host.run(["rm", "-rf", self._data])
        options = ("-R", "-X", "stream", "-c", "fast", "-d", self._source(primary))
        self._run("pg_basebackup", "-D", self._data, *options)
        self._configure()

    def begin(self) -> None:
        """Start the server, and wait until it takes connections."""
        command = [str(self._programs / "postgres"), "-D", self._data, "-p", "5432"]
        command += ["-k", str(self.folder), "-c", "unix_socket_permissions=0777"]
        self._process = self.host.start(command, log="postgresql.log", is_unprivileged=True)
        wait_for(self._answers, 30)

    def kill(self) -> None:
        """SIGKILL to the server; its processes notice."""
        self.host.kill()

    def execute(self, statement: str) -> Any:
        """The rows of a statement that the operator runs, as the superuser."""
        connection = psycopg.connect(
            host=str(self.folder), port=5432, user="postgres", autocommit=True
        )
        with connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def set(self, name: str, value: str) -> None:
        """ALTER SYSTEM, and wait until the server goes by it."""
        self.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        self.execute("SELECT pg_reload_conf()")
        wait_for(lambda: self.execute(f"SHOW {name}") == [(value,)])

    def follow(self, primary: PostgresHost) -> None:
        """Be a standby of another primary."""
        self.set("primary_conninfo", self._source(primary))

    def promote(self) -> None:
        """Become the primary."""
        self._run("pg_ctl", "-D", self._data, "-w", "-t", "30", "promote")

    def received(self) -> int:
        """How many bytes of changes a standby has received."""
        statement = "SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn"
        ((number,),) = self.execute(statement)
        return int(number)

    def _answers(self) -> bool:
        assert self._process.poll() is None, f"{self.host.folder}/postgresql.log says why it ended"
        with suppress(psycopg.OperationalError):
            return bool(self.execute("SELECT 1"))
        return False

    def _configure(self) -> None:
        """The configuration that operators get; the operator here is not PostgreSQL's own user."""
        hba = (_CONFIGURATION / "pg_hba.conf").read_text().replace(" peer", " trust")
        own = (_CONFIGURATION / "postgresql.conf").read_text()
        for name, text in (("pg_hba.conf", hba), ("canopy.conf", own)):
            self.host.write(f"{self._data}/{name}", text)
        if "canopy.conf" not in (file := Path(self._data, "postgresql.conf")).read_text():
            self.host.write(str(file), file.read_text() + "include = 'canopy.conf'\n")

    def _source(self, primary: PostgresHost) -> str:
        limits = "connect_timeout=3 keepalives_idle=3 keepalives_interval=2 keepalives_count=2"
        return (
            f"host={primary.host.address} port=5432 user=replicator "
            f"password={PASSWORD} application_name={self.name} {limits}"
        )

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        self.host.run(command, is_unprivileged=True)


class Cluster:
    """A primary and its standbys."""

    def __init__(self, servers: Sequence[PostgresHost], synchronous: str) -> None:
        """
        Args:
            servers: the first is the primary.
            synchronous: value of ``synchronous_standby_names``.
        """
        self.primary, *self.standbys = self.servers = list(servers)
        self.primary.initialize()
        self.primary.begin()
        self.primary.set("synchronous_standby_names", "")  # there are none yet
        for statement in (
            f"CREATE ROLE canopy LOGIN PASSWORD '{PASSWORD}'",
            f"CREATE ROLE replicator LOGIN REPLICATION PASSWORD '{PASSWORD}'",
            "CREATE DATABASE canopy OWNER canopy",
        ):
            self.primary.execute(statement)
        for standby in self.standbys:
            self.attach(standby)
        self.primary.set("synchronous_standby_names", synchronous)

    def attach(self, standby: PostgresHost) -> None:
        """Make a host a standby of the primary, anew."""
        standby.copy(self.primary)
        standby.begin()
        if standby not in self.standbys:
            self.standbys.append(standby)
        self.wait_for(standby)

    def wait_for(self, standby: PostgresHost, seconds: float = 20) -> None:
        """Wait until a standby has all that the primary has."""
        statement = (
            f"SELECT 1 FROM pg_stat_replication WHERE application_name = '{standby.name}' "
            "AND state = 'streaming'"
        )
        wait_for(lambda: self.primary.execute(statement), seconds)

    def promote(self) -> PostgresHost:
        """Promote the standby that has received most; the others follow it. Returns the former
        primary, which must be off."""
        former = self.primary
        self.primary = max(self.standbys, key=PostgresHost.received)
        self.standbys.remove(self.primary)
        self.primary.promote()
        if not self.standbys:  # nobody is left to wait for
            self.primary.set("synchronous_standby_names", "")
        for standby in self.standbys:
            standby.follow(self.primary)
        return former

    def url(self, port: int = 5432) -> str:
        """The address of the database, which names all hosts.

        Args:
            port: of a pgbouncer on each.
        """
        places = ",".join(f"{each.host.address}:{port}" for each in self.servers)
        credentials = f"canopy:{PASSWORD}"
        return f"postgresql://{credentials}@{places}/canopy?target_session_attrs=read-write"
