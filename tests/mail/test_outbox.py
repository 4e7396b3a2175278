"""Mails are not lost when Valkey loses its data or a worker is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from flask import Flask
from redis import Redis
from rq import SimpleWorker

from app.jobs.queue import MAILS, job_queue
from app.jobs.registry import RegisteredJob
from app.jobs.scheduler import Scheduler
from app.mail.jobs import JOBS
from app.policy.mails import LEASE
from tests.mail.conftest import (
    LINK,
    RECIPIENT,
    AdvanceClock,
    Connected,
    only_row,
    queue,
    rows,
    send,
)
from tests.make import link_in, second_app
from tests.waiting import PATIENCE, wait_for

ROOT = Path(__file__).parents[2]
_SEND = """
from app.factory import create_app
from app.mail.jobs import send_mails
from config import load_settings
with create_app(load_settings()).app_context():
    send_mails()
"""


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore the signal handlers, which RQ's worker sets for the whole process."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)
    handlers = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _work(app: Flask, client: Redis) -> None:
    """Run all queued jobs."""
    queue = job_queue(client, MAILS)
    with app.app_context(), _own_signals():
        worker = SimpleWorker(
            [queue], connection=client, job_class=RegisteredJob, serializer=queue.serializer
        )
        worker.work(burst=True, logging_level="ERROR")


def test_a_job_lost_by_valkey_is_made_up_for_by_the_next_periodic_run(
    connected: Connected, valkey_url: str, own_valkey: Redis
) -> None:
    sending, inbox = connected()
    with second_app(sending, redis_url=f"{valkey_url}?db=10") as app:
        queue(app)
        assert job_queue(own_valkey, MAILS).count == 1
        own_valkey.flushdb()
        _work(app, own_valkey)
        assert inbox.mails == []
        Scheduler(lambda: own_valkey, JOBS).check()
        _work(app, own_valkey)
    (mail,) = inbox.to(RECIPIENT)
    assert link_in(mail) == LINK


def test_a_commit_wakes_a_worker(connected: Connected, valkey_url: str, own_valkey: Redis) -> None:
    sending, inbox = connected()
    with second_app(sending, redis_url=f"{valkey_url}?db=10") as app:
        queue(app)
        _work(app, own_valkey)
        assert len(inbox.mails) == 1
        assert job_queue(own_valkey, MAILS).count == 0


def test_changes_succeed_without_valkey(connected: Connected) -> None:
    sending, inbox = connected()
    with second_app(sending, redis_url="redis://127.0.0.1:9/0") as app:
        queue(app)
    assert send(sending) == 1
    assert len(inbox.mails) == 1


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before the server has it", "after the server has it"])
def test_a_killed_worker_delays_its_mail(
    connected: Connected, advance_clock: AdvanceClock, moment: str
) -> None:
    app, inbox = connected()
    inbox.delay = 600 if moment.startswith("before") else 0
    queue(app, kind="reset_password")
    queue(app, "other@example.org")
    process = _sending(app, stop_after_mail=moment.startswith("after"))
    assert inbox.begun.wait(PATIENCE)
    if moment.startswith("after"):
        wait_for(lambda: inbox.mails)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    inbox.delay = 0
    row = only_row(app)
    assert (row.attempts, row.sent_at) == (1, None)
    assert row.kind == "reset_password"
    assert len(rows(app, "other@example.org")) == 1
    send(app)
    assert only_row(app).sent_at is None, "the lease holds"
    advance_clock(LEASE)
    send(app)
    assert only_row(app).sent_at is not None
    mails = inbox.to(RECIPIENT)
    assert len(mails) == (1 if moment.startswith("before") else 2)
    assert {mail["Message-ID"] for mail in mails} == {f"<{row.id}@[127.0.0.1]>"}
    assert {link_in(mail) for mail in mails} == {LINK}
    assert {str(mail["Date"]) for mail in mails} == {str(mails[0]["Date"])}


def _sending(app: Flask, *, stop_after_mail: bool) -> subprocess.Popen[bytes]:
    """A process that sends due mails; optionally it stops before recording the first one."""
    settings = app.config["SETTINGS"]
    server = settings.mail_url
    stop = "import time\nfrom app.mail import jobs\njobs.mark_sent = lambda _: time.sleep(600)\n"
    environ = {
        "INSTANCE_PATH": str(settings.instance_path),
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
        "SECRET_KEY": settings.secret_key,
        "MAIL_URL": f"smtp://{server.host}:{server.port}",
        "PATH": os.environ["PATH"],
    }
    script = (stop if stop_after_mail else "") + _SEND
    return subprocess.Popen([sys.executable, "-c", script], env=environ, cwd=ROOT)
