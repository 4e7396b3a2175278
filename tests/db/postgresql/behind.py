"""An application behind a real pgbouncer, in session mode or in transaction mode."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from flask import Flask

from app.db.connections import close_all
from app.db.migrations import upgrade
from app.factory import create_app
from config import ROOT, load_settings
from tests.captured import captured
from tests.db.postgresql.pgbouncer import ROLE, Pgbouncer, pgbouncer
from tests.deploy.debian import Program
from tests.postgres import PostgresServer
from tests.waiting import PATIENCE, wait_for

# Connections to PostgreSQL, and those that the application may open to pgbouncer for writing and
# as many for reading.
SIZES = {"session": (10, 2), "transaction": (3, 8)}
TIMEOUT_MS = 2000


@dataclass
class Behind:
    """An application behind a pgbouncer."""

    mode: str
    pgbouncer: Pgbouncer
    app: Flask
    environ: dict[str, str]

    @property
    def is_shared(self) -> bool:
        return self.mode == "transaction"

    def command(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run ``bin/canopy``."""
        bare = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
        return captured(
            [sys.executable, "-m", "app.cli", *words],
            cwd=ROOT,
            env=bare | self.environ | environ,
            timeout=2 * PATIENCE,
        )

    def as_superuser(self, statement: str) -> None:
        """Run a statement on PostgreSQL itself, and let pgbouncer connect anew."""
        with psycopg.connect(self.pgbouncer.direct_url, autocommit=True) as connection:
            connection.execute(statement)
            changed = connection.execute("SELECT clock_timestamp()").fetchone()
            assert changed is not None
            ended = (
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = %s "
                "AND datname = current_database() AND backend_start < %s"
            )
            parameters = (ROLE, *changed)
            wait_for(lambda: connection.execute(ended, parameters).fetchone() == (0,))
        # pgbouncer notices that soon, and until then gives a client one that has ended.
        wait_for(lambda: all(self.pgbouncer.responds() for _ in range(20)))
        self.close()

    def close(self) -> None:
        """End the application's connections; those of pgbouncer stay."""
        with self.app.app_context():
            close_all()


@contextmanager
def behind_pgbouncer(
    mode: str, program: Program, server: PostgresServer, folder: Path, **settings: str
) -> Iterator[Behind]:
    """An application with empty tables. ``folder`` must be readable by other users."""
    pool, own = SIZES[mode]
    with pgbouncer(program, server, folder, mode, pool) as running:
        environ = {
            "INSTANCE_PATH": str(folder / "instance"),
            "DATABASE_URL": running.url,
            "DATABASE_POOL_SIZE": str(own),
            "DATABASE_TIMEOUT_MS": str(TIMEOUT_MS),
            "PGBOUNCER_POOL_MODE": mode,
            "RATE_LIMIT_DISABLED": "true",
            "LOG_LEVEL": "error",
            **settings,
        }
        app = create_app(load_settings(environ))
        with app.app_context():
            upgrade()
        made = Behind(mode, running, app, environ)
        yield made
        made.close()
