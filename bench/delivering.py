"""What the measurements of deliveries need: a receiver, an instance, and things to deliver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from flask import Flask

from app.account.service import create_account
from app.db.connections import close_all
from app.db.extensions import db
from app.db.migrations import upgrade
from app.factory import create_app
from app.models import Delivery, Event, Webhook
from app.security.sealing import seal
from app.security.webhook_signing import new_secret
from app.values import clock
from app.values.ids import new_id
from config import ROOT, load_settings
from tests.node import NODE
from tests.outbound.authority import Authority

# An event of a project, as long as most are.
EVENT = {
    "type": "project.created",
    "data": {"name": "North slope", "description": "Measured. " * 30, "area_hectares": 12.5},
}


class Receiver:
    """Node's HTTPS server in a process of its own; see ``receiver.mjs`` for its paths."""

    def __init__(self, authority: Authority, *options: str) -> None:
        pem = authority.certificate_for(["localhost", "127.0.0.1"])
        script = Path(__file__).with_name("receiver.mjs")
        self._process = subprocess.Popen(
            [str(NODE), str(script), str(pem), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = f"https://127.0.0.1:{self._answer()}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def received(self) -> Any:
        """What came since this was last asked: a number, or with ``--times`` pairs of a path and
        the milliseconds since the event began to be written, which its name tells."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def environment(folder: Path, authority: Authority, database_url: str) -> dict[str, str]:
    return {
        "INSTANCE_PATH": str(folder),
        "DATABASE_URL": database_url,
        "LOG_LEVEL": "error",
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
        "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
    }


@contextmanager
def application(environ: dict[str, str]) -> Iterator[Flask]:
    """An instance with its tables, in its context."""
    app = create_app(load_settings(environ))
    with app.app_context():
        upgrade()
        yield app
        close_all()


@contextmanager
def worker(environ: dict[str, str], *arguments: str) -> Iterator[int]:
    """A worker as it runs for real. Gives its process's id."""
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "worker.py"), *arguments], env=own | environ, cwd=ROOT
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(15)


Target = tuple[str, str]  # account, webhook


def make_webhooks(urls: Sequence[str]) -> list[Target]:
    """A webhook for each address, each in an account of its own, all known to answer well."""
    made = []
    for number, url in enumerate(urls):
        account = create_account(name=f"Bench {number}", owner_email="b@example.org").account
        moment = clock.now()
        webhook = Webhook(
            id=new_id("webhook"), account_id=account.id, url=url, events=["*"], enabled=True,
            sealed_secret=seal(new_secret()), consecutive_failures=0, last_success_at=moment,
            created_at=moment, updated_at=moment,
        )  # fmt: skip
        db.session.add(webhook)
        made.append((account.id, webhook.id))
    db.session.commit()
    return made


def queue(targets: Sequence[Target], number: int) -> None:
    """So many deliveries, of as many events, for all targets in turn."""
    moment = clock.now()
    events, deliveries = [], []
    for n in range(number):
        account_id, webhook_id = targets[n % len(targets)]
        event_id = new_id("event")
        body = EVENT | {"id": event_id, "created_at": clock.format_time(moment)}
        events.append(
            {
                "id": event_id, "account_id": account_id, "type": EVENT["type"],
                "subject_id": "proj_x", "body": json.dumps(body), "created_at": moment,
            }
        )  # fmt: skip
        deliveries.append(
            {
                "id": new_id("delivery"), "account_id": account_id, "webhook_id": webhook_id,
                "event_id": event_id, "cause": "event", "state": "pending", "attempts": 0,
                "due_at": moment, "created_at": moment,
            }
        )  # fmt: skip
    db.session.execute(Event.__table__.insert(), events)
    db.session.execute(Delivery.__table__.insert(), deliveries)
    db.session.commit()


def in_threads(threads: int, number: int, call: Callable[[], object]) -> float:
    """Call something so often, by so many threads. Returns calls a second.

    Raises whatever a call raises.
    """

    def loop() -> None:
        for _ in range(number // threads):
            call()

    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(loop) for _ in range(threads)]
    seconds = time.perf_counter() - began
    for each in running:
        each.result()
    return number // threads * threads / seconds


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
