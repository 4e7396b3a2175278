"""An instance that delivers: web server, Valkey, database, worker, customers with receivers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from flask import Flask

from app.db.connections import close_all
from app.factory import create_app
from config import ROOT, load_settings
from tests.api.server import gunicorn
from tests.make import make_account
from tests.make.apps import CHEAP_PASSWORDS
from tests.make.webhooks import make_webhook
from tests.outbound.authority import Authority, make_authority
from tests.postgres import PostgresServer
from trials.faults.reconciliation import Customer, Inbox
from trials.faults.valkey import Valkey, valkey
from trials.faults.worker import FOLDER, LEASE_SECONDS, NAMES
from trials.faults.writer import Writer

OUTSIDE, INSIDE = "127.0.0.2", "127.0.0.1"  # webhooks may reach the first, and not the second
RATE = 10  # writes a second of each writer
END_SECONDS = 15


class Worker:
    """A worker with faults. It is started again whenever it dies, as systemd would, until its
    end."""

    def __init__(self, folder: Path, environ: Mapping[str, str], module: str) -> None:
        self._folder, self._environ, self._module = folder, environ, module
        self._lock = threading.Lock()
        self.begin()

    def begin(self) -> None:
        """Start it, again after ``end``."""
        self._is_ending = False
        self._process = self._start()
        threading.Thread(target=self._keep, daemon=True).start()

    def kills(self) -> list[str]:
        """A line for each time that it killed itself: at which point, and who died."""
        with suppress(FileNotFoundError):
            return (self._folder / "kills").read_text().splitlines()
        return []

    def arm(self, seconds: float, victims: Sequence[str]) -> None:
        """Have jobs kill themselves, after so many seconds at most, and others with them."""
        armed = self._folder / "armed"
        armed.with_suffix(".new").write_text(json.dumps([seconds, list(victims)]))
        armed.with_suffix(".new").rename(armed)

    def disarm(self) -> None:
        (self._folder / "armed").unlink()

    def written(self) -> dict[str, float]:
        """When the last attempt of each delivery was in the log, in seconds since the epoch."""
        with suppress(FileNotFoundError):
            lines = (self._folder / "written").read_text().splitlines()
            return {delivery_id: float(at) for delivery_id, at in map(str.split, lines)}
        return {}

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def job_pid(self) -> int:
        """The process of the delivery job that began last; 0 before the first."""
        with suppress(FileNotFoundError, ValueError):
            return int((self._folder / "job").read_text())
        return 0

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
class Instance:
    """A running instance whose customers have receivers."""

    folder: Path
    app: Flask
    port: int
    authority: Authority
    stack: ExitStack

    def inbox(self, certificate: Path | None = None, *, port: int = 0) -> Inbox:
        """A receiver outside."""
        certificate = certificate or self.authority.certificate_for([OUTSIDE])
        made = Inbox(certificate, address=OUTSIDE, port=port)
        self.stack.callback(made.receiver.close)
        return made

    def customer(self, plan: str = "enterprise") -> Customer:
        """An account of its own with a webhook for created projects."""
        client, inbox = make_account(self.app, plan=plan), self.inbox()
        url = inbox.receiver.url(host=OUTSIDE)
        return Customer(client, make_webhook(client, url=url, events=["project.created"]), inbox)


@dataclass
class Service(Instance):
    """Its parts were started one by one, so that each can fail alone."""

    database: str
    web_pid: int  # of the process that starts the web processes
    valkey: Valkey
    postgres: PostgresServer | None
    worker: Worker

    def write(self, customers: Sequence[Customer], rate: float = RATE) -> list[Writer]:
        """Writers, one in the account of each customer. ``end`` them."""
        return [Writer(self.port, customer.client, rate) for customer in customers]


@contextmanager
def service(
    database: str,
    folder: Path,
    *,
    names: Mapping[str, Sequence[Sequence[str]]] | None = None,
    lease_seconds: float | None = None,
    settings: Mapping[str, str] | None = None,
    worker_module: str = "trials.faults.worker",
    code: str = "",
) -> Iterator[Service]:
    """An instance in ``folder``.

    Args:
        settings: of the instance, besides those that are needed here.
        worker_module: what the worker runs.
        names: what is found in turn when the worker looks a name up.
        lease_seconds: after which a delivery is due again whose worker died.
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
        environ |= {"INSTANCE_PATH": str(folder)}
        app = create_app(load_settings(environ))
        bare = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        faults = _faults(folder, names, lease_seconds)
        worker = Worker(folder, bare | environ | faults, worker_module)
        stack.callback(worker.end)
        yield Service(
            folder,
            app,
            server.port,
            authority,
            stack,
            database,
            server.pid,
            valkey_server,
            postgres,
            worker,
        )
        with app.app_context():
            close_all()


def _faults(
    folder: Path, names: Mapping[str, Sequence[Sequence[str]]] | None, lease_seconds: float | None
) -> dict[str, str]:
    """Environment variables for the worker."""
    environ = {FOLDER: str(folder), NAMES: json.dumps(names or {})}
    return environ | ({} if lease_seconds is None else {LEASE_SECONDS: str(lease_seconds)})
