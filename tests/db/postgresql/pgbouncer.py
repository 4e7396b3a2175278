"""A real pgbouncer in front of the tests' PostgreSQL, with the configuration that is shipped."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg

from tests.deploy.debian import Program
from tests.deploy.files import text
from tests.ports import free_port
from tests.postgres import PostgresServer
from tests.waiting import PATIENCE, wait_for

ROLE, PASSWORD = "canopy", "p@ss"


class Pgbouncer:
    """``url`` leads to a new database through pgbouncer, ``direct_url`` to PostgreSQL itself."""

    def __init__(self, program: Program, server: PostgresServer, folder: Path) -> None:
        self._program, self._folder = program, folder
        self.direct_url = _new_database(server)
        self._port = free_port()
        self.name = urlsplit(self.direct_url).path.removeprefix("/")
        self.url = f"postgresql://{ROLE}:p%40ss@127.0.0.1:{self._port}/canopy"

    def start(self, mode: str, pool_size: int) -> subprocess.Popen[bytes]:
        """Run it until the process is ended."""
        (self._folder / "userlist.txt").write_text(f'"{ROLE}" "{PASSWORD}"\n')
        file = self._folder / "pgbouncer.ini"
        file.write_text(self._configuration(mode, pool_size))
        # It refuses to run as root; PostgreSQL does too, so the tests have another user.
        user = "pgserver" if os.geteuid() == 0 else None
        with (self._folder / "pgbouncer.log").open("ab") as log:
            process = subprocess.Popen(
                [self._program.path, str(file)],
                env={"PATH": os.environ["PATH"]} | dict(self._program.environ),
                user=user,
                stdout=log,
                stderr=log,
            )
        wait_for(self.responds)
        return process

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """A connection that sets nothing and prepares nothing."""
        return psycopg.connect(self.url, autocommit=True, prepare_threshold=None)

    def _configuration(self, mode: str, pool_size: int) -> str:
        socket = parse_qs(urlsplit(self.direct_url).query)["host"][0]
        changes = {
            "canopy": f"host={socket} port=5432 dbname={self.name}",
            "listen_addr": "127.0.0.1",
            "listen_port": str(self._port),
            "auth_file": str(self._folder / "userlist.txt"),
            "pool_mode": mode,
            "default_pool_size": str(pool_size),
        }
        file = text("deploy/hosts/pgbouncer.ini")
        for name, value in changes.items():
            file, number = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value}", file)
            assert number == 1, name
        return file

    def responds(self) -> bool:
        """Whether PostgreSQL can be asked through it."""
        with contextlib.suppress(psycopg.Error), self.connect() as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
        return False


@contextlib.contextmanager
def pgbouncer(
    program: Program, server: PostgresServer, folder: Path, mode: str, pool_size: int
) -> Iterator[Pgbouncer]:
    """A running one. ``folder`` must be readable by other users."""
    made = Pgbouncer(program, server, folder)
    process = made.start(mode, pool_size)
    try:
        yield made
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _new_database(server: PostgresServer) -> str:
    """The address of an empty database that the role owns."""
    url = server.create_database()
    with psycopg.connect(server.url, autocommit=True) as connection:
        with contextlib.suppress(psycopg.errors.DuplicateObject):
            connection.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'")
        name = urlsplit(url).path.removeprefix("/")
        connection.execute(f"ALTER DATABASE {name} OWNER TO {ROLE}")
    return url
