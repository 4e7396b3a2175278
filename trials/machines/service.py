"""The service on several hosts: what stands where, and how it is started."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from flask import Flask

from app.db.connections import close_all
from app.db.migrations import upgrade
from app.factory import create_app
from config import ROOT, load_settings
from tests.make import make_account
from tests.make.apps import CHEAP_PASSWORDS
from tests.make.webhooks import make_webhook
from tests.outbound.authority import Authority
from tests.waiting import wait_for
from trials.faults.reconciliation import Customer, Inbox
from trials.machines.clients import BACK, Endpoint, EndpointWriter, Timeline, burst
from trials.machines.hosts import Host
from trials.machines.postgresql import Cluster

RATE = 5.0  # writes a second of each writer
PLAN_LIMIT = 40
EXACT = {200: PLAN_LIMIT, 429: PLAN_LIMIT}
PLANS = f"[wide]\nrequests_per_minute = 1000000\n\n[narrow]\nrequests_per_minute = {PLAN_LIMIT}\n"
_SECRET_KEY = "the-secret-key-of-all-the-hosts-of-this-test"


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
class Deployment:
    """A running service, and what a trial needs of it."""

    app: Flask
    folder: Path
    environ: Mapping[str, str]  # of web servers and workers
    web: list[Process]
    workers: list[Process]
    endpoints: list[Endpoint]  # of the clients, to the balancers or to the web servers
    cluster: Cluster
    authority: Authority
    receiver: str  # address of the customers' receivers
    stack: ExitStack
    hosts: Mapping[str, Host] = field(default_factory=dict)
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

    def customer(self) -> Customer:
        """An account of its own with a webhook for created projects."""
        client = make_account(self.app, plan="wide")
        inbox = Inbox(self.authority.certificate_for([self.receiver]), address=self.receiver)
        self.stack.callback(inbox.receiver.close)
        url = inbox.receiver.url(host=self.receiver)
        return Customer(client, make_webhook(client, url=url, events=["project.created"]), inbox)

    def write(self) -> list[EndpointWriter]:
        """Two writers on each endpoint, of which one repeats its requests; each writes for one of
        ``customers``."""
        kinds = [(endpoint, repeats) for endpoint in self.endpoints for repeats in (True, False)]
        self.customers = [self.customer() for _ in kinds]
        return [
            EndpointWriter(endpoint, customer.client, RATE, repeats=repeats)
            for (endpoint, repeats), customer in zip(kinds, self.customers, strict=True)
        ]

    def limited(self) -> Counter[int]:
        """The statuses of twice as many requests as a plan allows, over all web hosts at once."""
        client = make_account(self.app, plan="narrow")
        return burst([process.endpoint for process in self.web], client, 2 * PLAN_LIMIT)


def settings(folder: Path, authority: Authority, receiver: str, **more: str) -> dict[str, str]:
    """The settings of all hosts."""
    plans = folder / "plans.toml"
    plans.write_text(PLANS)
    return {
        "SECRET_KEY": _SECRET_KEY,
        "PLANS_FILE": str(plans),
        "LOG_LEVEL": "info",
        "WEBHOOK_ALLOWED_NETWORKS": f"{receiver}/32",
        "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
        **CHEAP_PASSWORDS,
        **more,
    }


@contextmanager
def operators_app(folder: Path, environ: Mapping[str, str]) -> Iterator[Flask]:
    """The application in this process, with the schema made: the operator's commands."""
    app = create_app(load_settings({"INSTANCE_PATH": str(folder / "operator"), **environ}))
    with app.app_context():
        upgrade()
    yield app
    with app.app_context():
        close_all()
