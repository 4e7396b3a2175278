"""A worker that is killed in the middle of an import: the next one goes on, and nothing is done
twice."""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.imports.making import projects, read, upload, work
from tests.imports.worker import kill_all, reader, running, wait_until
from tests.make import Client, event_types, make_account, square
from tests.make.features import collection, feature

pytestmark = pytest.mark.both


FEATURES = 1_000
HALF = range(60, FEATURES)


@pytest.fixture
def content() -> bytes:
    return collection(
        *(feature(square(n / 10, 40, size=0.05), name=f"Stand {n}") for n in range(FEATURES))
    )


@pytest.fixture
def url(app: Flask) -> str:
    """Of the Valkey of the application, with the number of its database."""
    return str(app.config["SETTINGS"].redis_url)


def total(client: Client) -> int:
    number: int = client.get("/v1/projects?per_page=1").json["meta"]["total"]
    return number


STEPS = {"reading": "ready", "applying": "applied", "undoing": "undone"}
ACTIONS = {"applying": "apply", "undoing": "undo"}


def _kill_in(app: Flask, client: Client, url: str, import_id: str, status: str) -> bool:
    """Kill a worker in a step of an import. Returns whether it was in the middle."""
    with running(app, url) as pid:
        for step, ended in STEPS.items():
            if step in ACTIONS:
                client.post(f"/v1/imports/{import_id}/{ACTIONS[step]}")
            if step == status:
                break
            wait_until(client, import_id, lambda now, ended=ended: now["status"] == ended)
        wait_until(client, import_id, lambda now: _is_past(now, status))
        kill_all(pid)
    record = read(client, import_id)
    return record["status"] == status and record["progress"]["done"] in HALF


def _is_past(record: dict[str, Any], status: str) -> bool:
    """Whether an import is in the middle of a step, or after it."""
    return record["progress"]["done"] in HALF or record["status"] == STEPS[status]


@pytest.mark.trial
@pytest.mark.parametrize("status", STEPS)
def test_the_next_worker_goes_on(app: Flask, url: str, content: bytes, status: str) -> None:
    for _ in range(5):  # who gets no turn for long may come too late to kill it in the middle
        client = make_account(app)
        import_id = upload(client, content).json["data"]["id"]
        if _kill_in(app, client, url, import_id, status):
            break
    else:
        pytest.fail("it was never in the middle")
    with running(app, url):
        wait_until(client, import_id, lambda now: now["status"] == STEPS[status])
        if status == "reading":
            client.post(f"/v1/imports/{import_id}/apply")
            wait_until(client, import_id, lambda now: now["status"] == "applied")
    record = read(client, import_id)
    assert record["counts"]["new"] == FEATURES
    assert total(client) == (0 if status == "undoing" else FEATURES)
    created = event_types(client).count("project.created")
    assert created == FEATURES


def test_the_files_of_killed_workers_are_deleted_after_an_hour(app: Flask, client: Client) -> None:
    """Whether or not another file comes."""
    folder = Path(app.instance_path) / "imports"
    for name in ("old", "new"):
        (folder / name).mkdir(parents=True)
        (folder / name / "forests.geojson").write_text("{}")
    moment = time.time() - 3_700
    os.utime(folder / "old", (moment, moment))
    work(client)
    assert [(folder / name).exists() for name in ("old", "new")] == [False, True]
    shutil.rmtree(folder)


@pytest.mark.slow
def test_a_reader_that_is_killed_leaves_nothing(app: Flask, url: str, content: bytes) -> None:
    for _ in range(5):  # as above
        client = make_account(app)
        import_id = upload(client, content).json["data"]["id"]
        with running(app, url) as pid:
            wait_until(client, import_id, lambda now: _is_past(now, "reading"))
            with suppress(ValueError, ProcessLookupError):  # it has ended
                os.kill(reader(pid), signal.SIGKILL)
            record = wait_until(client, import_id, lambda now: now["status"] != "reading")
        if record["status"] != "ready":
            break
    assert record["status"] == "failed"
    assert projects(client) == {}
