"""An instance whose parts were started one by one, so that each can fail alone."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.db.connections import close_all
from app.factory import create_app
from config import ROOT, load_settings
from tests.api.server import gunicorn
from tests.instances.customers import OUTSIDE, Instance
from tests.instances.valkey import Valkey, valkey
from tests.make.apps import CHEAP_PASSWORDS
from tests.outbound.authority import make_authority
from tests.postgres import PostgresServer

FOLDER = "FAULTS_FOLDER"  # of an instance, for a worker with faults
END_SECONDS = 15
TWO_PROCESSES = {"WEB_WORKERS": "2"}


class Worker:
    """A worker. It is started again whenever it dies, as systemd would, until its end."""

    def __init__(self, folder: Path, environ: Mapping[str, str], module: str) -> None:
        self._folder, self._environ, self._module = folder, environ, module
        self._lock, self._is_ending = threading.Lock(), False
        self._process = self._start()
        threading.Thread(target=self._keep, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def end(self) -> int:
        """SIGTERM, and wait for its end. Returns the exit code."""
        with self._lock:
            self._is_ending = True
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", self._module]
        with (self._folder / "worker.log").open("ab") as log:
            return subprocess.Popen(
                command, cwd=ROOT, env=dict(self._environ), stdout=log, stderr=log
            )

    def _keep(self) -> None:
        while not self._is_ending:
            self._process.wait()
            with self._lock:
                if not self._is_ending:
                    self._process = self._start()


@dataclass
class Service(Instance):
    """Web server, Valkey, database and worker."""

    web_pid: int  # of the process that starts the web processes
    valkey: Valkey
    postgres: PostgresServer | None
    worker: Worker


@contextmanager
def service(
    database: str,
    folder: Path,
    *,
    settings: Mapping[str, str] | None = None,
    worker: str = "worker",
    code: str = "",
) -> Iterator[Service]:
    """An instance in ``folder``.

    Args:
        settings: of the instance, besides those that are needed here.
        worker: the module that the worker runs.
        code: what the web server runs before the application is made.
    """
    folder.chmod(0o755)
    with ExitStack() as stack:
        authority = make_authority(folder)
        valkey_server = stack.enter_context(valkey(folder))
        postgres = None
        environ = {
            "REDIS_URL": valkey_server.url,
            "LOG_LEVEL": "warning",
            "RATE_LIMIT_DISABLED": "true",
            "WEBHOOK_ALLOWED_NETWORKS": f"{OUTSIDE}/32",
            "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
            **CHEAP_PASSWORDS,
            **(settings or {}),
        }
        if database == "postgresql":
            postgres = stack.enter_context(PostgresServer(folder / "pg"))
            environ["DATABASE_URL"] = postgres.create_database()
        server = stack.enter_context(gunicorn(folder, code=code, **environ))
        environ |= {"INSTANCE_PATH": str(folder), FOLDER: str(folder)}
        app = create_app(load_settings(environ))
        bare = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        running = Worker(folder, bare | environ, worker)
        stack.callback(running.end)
        yield Service(
            folder, app, server.port, authority, stack, server.pid, valkey_server, postgres, running
        )
        with app.app_context():
            close_all()


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    return [each for child in children(pid) for each in (child, *descendants(child))]
