"""Expensive requests: one at a time, few that wait, and none for a client that has gone."""

from __future__ import annotations

import gc
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from flask import Flask

from app.api import envelope, expensive
from app.api.expensive import TURNS, expensive_work
from app.geometry import read_boundary
from app.http import compression
from app.http.errors import ServiceUnavailable
from app.policy.request_limits import (
    EXPENSIVE_BODY_BYTES,
    EXPENSIVE_RETRY_SECONDS,
    EXPENSIVE_WAITING,
)
from app.projects import listing
from app.projects.boundaries import validation
from tests.api.server import gunicorn
from tests.geometry.drawing import UNIT, polygon
from tests.geometry.expensive_shapes import comb, zigzag
from tests.make import Client, make_project
from tests.waiting import PATIENCE, wait_for

VALIDATE = "/v1/geometry/validate"
EXPENSIVE = zigzag(1_400)
LARGE = {"name": "Wald", "description": "x" * EXPENSIVE_BODY_BYTES}


@contextmanager
def others_at_work(app: Flask) -> Iterator[None]:
    """Another request is at work meanwhile."""
    over, begun = threading.Event(), threading.Event()

    def work() -> None:
        with app.test_request_context(), expensive_work():
            begun.set()
            over.wait(2 * PATIENCE)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert begun.wait(PATIENCE)
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture
def _soon_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expensive, "EXPENSIVE_WAIT_SECONDS", 0.2)


@pytest.fixture
def _large_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of projects is taken for a large one."""
    make_project(client, geometry=comb(300))
    monkeypatch.setattr(listing, "EXPENSIVE_PAGE_BYTES", 1_000)


@pytest.mark.provokes(503)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (VALIDATE, EXPENSIVE),
        ("/v1/projects", LARGE),
        ("/api/onboarding/validate-slug", {"slug": "x" * EXPENSIVE_BODY_BYTES}),
    ],
)
@pytest.mark.usefixtures("_soon_refused")
def test_what_does_not_get_its_turn_is_refused(
    client: Client, path: str, body: dict[str, object]
) -> None:
    with others_at_work(client.app):
        began = time.monotonic()
        response = client.post(path, json=body)
        assert time.monotonic() - began < PATIENCE / 2
    assert response.status_code == 503
    assert response.json["error"]["code"] == "SERVICE_UNAVAILABLE"
    assert "Too many large requests" in response.json["error"]["message"]
    assert response.headers["Retry-After"] == str(EXPENSIVE_RETRY_SECONDS)


def test_who_waits_gets_its_turn(client: Client) -> None:
    answers = []

    def create() -> None:
        answers.append(client.post("/v1/projects", json=LARGE).status_code)

    thread = threading.Thread(target=create)
    with client.app.test_request_context(), expensive_work():
        thread.start()
        wait_for(lambda: TURNS.waiting == 1)
    thread.join()
    assert answers == [422]


def test_what_is_cheap_waits_for_nobody(client: Client) -> None:
    with others_at_work(client.app):
        project = client.post("/v1/projects", json={"name": "Wald", "geometry": polygon(UNIT)})
        many = client.post(VALIDATE, json=comb(3_000))
    assert project.status_code == 201
    assert many.json["data"]["valid"] is True


@pytest.mark.provokes(503)
@pytest.mark.usefixtures("_soon_refused")
def test_a_repeat_under_the_same_key_is_carried_out(client: Client) -> None:
    body, headers = {"name": "Wald", "geometry": EXPENSIVE}, {"Idempotency-Key": "one"}
    with others_at_work(client.app):
        assert client.post("/v1/projects", json=body, headers=headers).status_code == 503
    assert client.post("/v1/projects", json=body, headers=headers).status_code == 201


def test_a_large_body_with_an_expensive_boundary_takes_one_turn(client: Client) -> None:
    body = LARGE | {"geometry": EXPENSIVE}
    response = client.post("/v1/projects", json=body)
    assert response.json["error"]["details"][0]["field"] == "description"


def test_a_large_geometry_is_checked_in_the_turn_of_its_body(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_turn: list[bool] = []

    def read(*arguments: Any, **options: Any) -> Any:
        has_turn.append(TURNS.is_taken)
        return read_boundary(*arguments, **options)

    monkeypatch.setattr(validation, "read_boundary", read)
    assert client.post(VALIDATE, json=comb(3_000)).json["data"]["valid"] is True
    assert client.post(VALIDATE, json=comb(10_000)).json["data"]["valid"] is True
    assert has_turn == [False, True]
    assert not TURNS.is_taken


@pytest.mark.provokes(503)
@pytest.mark.usefixtures("_large_page", "_soon_refused")
def test_a_large_page_is_compressed_in_its_turn(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once: list[bool] = []
    whole = compression._compress_pieces

    def encoded(*arguments: Any) -> Any:
        at_once.append(TURNS.is_taken)
        return whole(*arguments)

    monkeypatch.setattr(compression, "_compress_pieces", encoded)
    page, summaries = "/v1/projects", "/v1/projects?fields=name,slug"
    for _ in range(2 * EXPENSIVE_WAITING):
        assert client.get(page, headers={"Accept-Encoding": "gzip"}).status_code == 200
    assert at_once == [True] * 2 * EXPENSIVE_WAITING
    assert not TURNS.is_taken
    with others_at_work(client.app):
        refused = client.get(page)
        assert refused.headers["Retry-After"] == str(EXPENSIVE_RETRY_SECONDS)
        assert client.get(summaries).status_code == 200
    assert refused.status_code == 503


def test_a_turn_lasts_until_a_large_page_is_sent(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        make_project(client, geometry=comb(3_000))
    monkeypatch.setattr(listing, "EXPENSIVE_PAGE_BYTES", 1_000)
    monkeypatch.setattr(envelope, "LARGE", 1_000)
    monkeypatch.setattr(envelope, "BLOCK", 1_000)
    headers = client.authorization | {"Accept-Encoding": "gzip"}
    response = client.app.test_client().get("/v1/projects", headers=headers, buffered=False)
    next(iter(response.response))
    assert TURNS.is_taken
    response.close()
    assert not TURNS.is_taken


@pytest.mark.provokes(503)
@pytest.mark.usefixtures("_large_page")
def test_a_turn_ends_when_a_page_fails(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    full = ServiceUnavailable("There is no room.")
    monkeypatch.setattr(listing, "pick_fields", Mock(side_effect=full))
    assert client.get("/v1/projects").status_code == 503
    assert not TURNS.is_taken


@pytest.mark.provokes(500)
@pytest.mark.usefixtures("_large_page")
def test_a_turn_ends_when_its_response_is_replaced(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the failing function is after the route, and Flask sends another response."""
    monkeypatch.setitem(client.app.config, "PROPAGATE_EXCEPTIONS", False)
    functions = client.app.after_request_funcs[None]
    monkeypatch.setitem(
        client.app.after_request_funcs, None, [*functions, Mock(side_effect=ValueError)]
    )
    gc.disable()  # else it might end a turn that was forgotten
    try:
        assert client.get("/v1/projects").status_code == 500
        assert not TURNS.is_taken
    finally:
        gc.enable()


@pytest.mark.slow
def test_nothing_is_done_for_a_client_that_has_gone(tmp_path: Path, valkey_url: str) -> None:
    body = json.dumps({"name": "Wald", "geometry": EXPENSIVE}).encode()
    with gunicorn(tmp_path, REDIS_URL=valkey_url) as server:
        head = (
            "POST /v1/projects HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {server.client.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head.encode() + body)
        log = tmp_path / "gunicorn.log"
        wait_for(lambda: '"status":503' in log.read_text())
        still_there = server.send(
            "POST /v1/projects HTTP/1.1\nContent-Type: application/json\n"
            f"Content-Length: {len(body)}",
            body,
        )
        assert still_there.status == 201
