"""A worker that is killed in the middle of an import: the next one goes on, and nothing is done
twice."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from tests.imports.making import read, upload
from tests.imports.worker import kill_all, running, wait_until
from tests.make import Client, event_types, make_account, square
from tests.make.features import collection, feature

FEATURES = 250
HALF = range(40, FEATURES)


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


@pytest.mark.slow
@pytest.mark.parametrize("status", ACTIONS)
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
    record = read(client, import_id)
    assert record["counts"]["new"] == FEATURES
    assert total(client) == (0 if status == "undoing" else FEATURES)
    created = event_types(client).count("project.created")
    assert created == FEATURES
