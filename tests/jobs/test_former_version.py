"""Jobs while hosts are upgraded one by one: the version before, which put paths of functions on its
queues, works beside this one on the same Valkey, and what it has left there is done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

from app.core import FORMER_JOBS
from app.jobs.queue import QUEUES, job_queue
from app.jobs.valkey import valkey
from config import ROOT
from tests.db.test_rolling_upgrade import extract_version_before
from tests.make import Client, make_account
from tests.make.apps import bare_app
from tests.waiting import wait_for

FIRST_OF_THIS_LAYOUT = ROOT / "app/settings/__init__.py"
# Invites somebody, which queues a mail.
INVITE = """
import os, sys
from app.factory import create_app
from config import load_settings

body = {"email": sys.argv[1], "role": "viewer"}
headers = {"Authorization": "Bearer " + os.environ["KEY"]}
client = create_app(load_settings()).test_client()
answer = client.post("/v1/account/members/invite", json=body, headers=headers)
assert answer.status_code == 201, answer.text
"""
PATIENCE = 60  # seconds


@pytest.fixture
def former(tmp_path: Path) -> Path:
    return extract_version_before(FIRST_OF_THIS_LAYOUT, tmp_path / "former")


@pytest.fixture
def caller(tmp_path: Path, valkey_url: str) -> Iterator[Client]:
    with bare_app(tmp_path / "instance", REDIS_URL=f"{valkey_url}?db=9") as app:
        yield make_account(app)
        with app.app_context():
            valkey().client.flushdb()


@pytest.fixture
def environ(caller: Client) -> dict[str, str]:
    settings = caller.app.config["SETTINGS"]
    return {
        "PATH": os.environ["PATH"],
        "KEY": caller.token,
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
        "INSTANCE_PATH": str(settings.instance_path),
        "SECRET_KEY": settings.secret_key,
        "LOG_LEVEL": "warning",
    }


@contextmanager
def working(folder: Path, environ: dict[str, str], log: Path) -> Iterator[None]:
    """A worker of the version whose code is in a folder, until the end of the block."""
    with log.open("wb") as output:
        worker = subprocess.Popen(
            [sys.executable, "worker.py"], cwd=folder, env=environ, stderr=output, stdout=output
        )
        try:
            yield
        finally:
            worker.terminate()
            worker.wait(PATIENCE)


def errors(log: Path) -> list[str]:
    """The lines of a failed job, such as one that is refused. Who ends a worker in the middle of a
    job may get a warning, Valkey may answer late on a busy machine, and the former version reports
    entries of the audit log that it does not seal."""
    failed = '"level":"ERROR","logger":"rq.worker"'
    lines = log.read_text().splitlines()
    return [line for line in lines if failed in line and "Valkey" not in line]


def invite(folder: Path, environ: dict[str, str], email: str) -> None:
    command = [sys.executable, "-c", INVITE, email]
    subprocess.run(command, cwd=folder, env=environ, check=True, timeout=PATIENCE)


def all_mailed(environ: dict[str, str], emails: list[str]) -> Callable[[], bool]:
    """Whether each of these people has a mail in the folder of mails."""
    folder = Path(environ["INSTANCE_PATH"], "mails")

    def found() -> bool:
        mails = [path.read_text() for path in folder.glob("*.eml")]
        return all(any(f"To: {email}" in mail for mail in mails) for email in emails)

    return found


@pytest.mark.slow
def test_what_the_version_before_left_on_its_queues_is_done(
    former: Path, caller: Client, environ: dict[str, str], tmp_path: Path
) -> None:
    invite(former, environ, "left@example.org")
    with caller.app.app_context():
        client: Redis = valkey().client
    for module, jobs in FORMER_JOBS.items():
        for job in jobs:
            name = job.signal.queue if job.signal else job.queue
            queue = Queue(name, client, serializer=JSONSerializer)
            queue.enqueue(f"{module}.{job.function.__name__}", result_ttl=0)
    left = sum(Queue(name, client).count for name in QUEUES)
    assert left > len(FORMER_JOBS)
    with working(ROOT, environ, tmp_path / "log"):
        wait_for(all_mailed(environ, ["left@example.org"]), PATIENCE)
        for name in QUEUES:
            wait_for(lambda name=name: not Queue(name, client).count, PATIENCE)
            wait_for(lambda name=name: not job_queue(client, name).count, PATIENCE)
    assert errors(tmp_path / "log") == []
    assert not any(job_queue(client, name).failed_job_registry.count for name in QUEUES)


@pytest.mark.slow
def test_both_versions_work_side_by_side(
    former: Path, caller: Client, environ: dict[str, str], tmp_path: Path
) -> None:
    logs = [tmp_path / "former.log", tmp_path / "log"]
    emails = []
    # Whichever version began first would run the doctor, and the former needs a library for it
    # that is no longer installed.
    with Redis.from_url(environ["REDIS_URL"]) as store:
        store.set("canopy:periodic:run-doctor", 1, ex=3600)
    with ExitStack() as stack:
        for folder, log in zip((former, ROOT), logs, strict=True):
            stack.enter_context(working(folder, environ, log))
        for number in range(3):
            emails += [f"former{number}@example.org", f"today{number}@example.org"]
            invite(former, environ, emails[-2])
            body = {"email": emails[-1], "role": "viewer"}
            assert caller.post("/v1/account/members/invite", json=body).status_code == 201
            wait_for(all_mailed(environ, emails), PATIENCE)
    assert [errors(log) for log in logs] == [[], []]
