"""How many exports run at a time, and that no slot is lost."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
from flask import Flask

from app.downloads import responses
from app.downloads.responses import export_slot
from app.exports import service
from app.http import compression
from app.http.errors import ServiceUnavailable
from tests.make import Client, make_account, make_project, square


def _can_begin(account: str, threads: int = 4) -> bool:
    try:
        with export_slot(account, threads):
            return True
    except ServiceUnavailable:
        return False


def test_an_account_has_one_and_others_have_theirs() -> None:
    with export_slot("a", 4):
        assert not _can_begin("a")
        assert _can_begin("b")
        with export_slot("b", 4):
            assert not _can_begin("c")
        assert _can_begin("c")
    assert _can_begin("a")


def test_a_thread_is_kept_free() -> None:
    for threads, most in ((1, 1), (2, 1), (3, 2), (8, 2)):
        with ExitStack() as stack:
            for number in range(most):
                stack.enter_context(export_slot(str(number), threads))
            assert not _can_begin("another", threads)


def test_an_error_gives_it_back() -> None:
    with pytest.raises(ValueError, match="stop"), export_slot("a", 4):
        raise ValueError("stop")
    assert _can_begin("a")


@pytest.fixture
def account(app: Flask) -> Client:
    made = make_account(app)
    make_project(made, geometry=square())
    return made


def test_every_response_gives_it_back(account: Client) -> None:
    for method in ("GET", "HEAD"):
        for format_name in ("nothing", "csv", "gpkg", "eudr"):
            account.send(method, f"/v1/exports/projects?format={format_name}")
            assert not responses._running, (method, format_name)


@pytest.mark.provokes(500, 503)
def test_every_failure_gives_it_back(account: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a defect")

    for module, name in (
        (service, "_export_source"),
        (service, "_scan_records"),
        (service, "export_filename"),
        (compression, "_encode_body"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, fail)
            headers = {"Accept-Encoding": "gzip"}
            response = account.get("/v1/exports/projects?format=csv", headers=headers)
            assert response.status_code == 500, name
        assert not responses._running, name
    assert account.get("/v1/exports/projects").status_code == 200


def test_a_response_that_nobody_reads_gives_it_back(
    account: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.formats.writers.source.BLOCK", 1)
    response = account.app.test_client().get(
        "/v1/exports/projects", headers=account.authorization, buffered=False
    )
    assert responses._running == {account.account_id}
    next(iter(response.response))
    assert responses._running
    response.close()
    assert not responses._running


def test_it_is_free_when_the_last_piece_goes_out(
    account: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that has all of a file can begin its next export at once."""
    monkeypatch.setattr("app.formats.writers.source.BLOCK", 1)
    response = account.app.test_client().get(
        "/v1/exports/projects", headers=account.authorization, buffered=False
    )
    running = [bool(responses._running) for _ in response.response]
    assert running[:-1] == [True] * (len(running) - 1)
    assert not running[-1]
    response.close()
