"""How many exports run at a time, and that no slot is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from flask import Flask

from app.api.expensive import TURNS
from app.downloads import responses
from app.downloads.responses import export_slot
from app.exports import service
from app.formats.writers.source import BLOCK
from app.http import compression
from app.http.errors import ServiceUnavailable
from tests.make import Client, make_account, make_project, square
from tests.make.wavy import polygon


@pytest.fixture(autouse=True)
def nobody_waits() -> Iterator[None]:
    yield
    responses._refused.clear()


def _can_begin(account: str, threads: int = 4) -> bool:
    try:
        with export_slot(account, threads):
            return True
    except ServiceUnavailable:
        return False


def _begin(account: Client) -> Any:
    client, headers = account.app.test_client(), account.authorization
    return client.get("/v1/exports/projects", headers=headers, buffered=False)


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
        assert _can_begin("another", threads)


def test_fewer_expensive_requests_wait_while_exports_hold_threads() -> None:
    for threads, places in ((4, [2, 1, 0]), (5, [2, 2, 1]), (8, [2, 2, 2]), (1, [2, 1])):
        with ExitStack() as stack:
            found = [TURNS.places]
            for account in "ab"[: len(places) - 1]:
                stack.enter_context(export_slot(account, threads))
                found.append(TURNS.places)
            assert found == places
    assert TURNS.places == 2


def test_accounts_that_were_refused_are_next_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with export_slot("a", 2):
        assert not _can_begin("b", 2)
        assert not _can_begin("c", 2)
        assert not _can_begin("b", 2)
    assert [_can_begin(account, 2) for account in "acbac"] == [False, False, True, False, True]
    assert not responses._refused.keys() - {"a"}
    monkeypatch.setattr(responses, "EXPORT_WAIT_SECONDS", -1)
    assert _can_begin("d", 2)  # "a" has not asked again


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
    response = _begin(account)
    assert set(responses._running) == {account.account_id}
    next(iter(response.response))
    assert responses._running
    response.close()
    assert not responses._running


def test_it_is_free_when_the_last_piece_goes_out(
    account: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that has all of a file can begin its next export at once."""
    monkeypatch.setattr("app.formats.writers.source.BLOCK", 1)
    response = _begin(account)
    running = [bool(responses._running) for _ in response.response]
    assert running[:-1] == [True] * (len(running) - 1)
    assert not running[-1]
    response.close()


def test_a_long_export_gives_way_to_another_account(
    account: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.formats.writers.source.BLOCK", 1)
    monkeypatch.setattr(responses, "EXPORT_CHECK_SECONDS", 0)
    monkeypatch.setattr(responses, "EXPORT_TURN_SECONDS", 0)

    with _begin(account) as export:
        assert b"".join(export.response).endswith(b"}\n")  # nobody waits
    with _begin(account) as export:
        assert not _can_begin("another", 1)
        with pytest.raises(BrokenPipeError):
            list(export.response)
    assert _can_begin("another", 1)


def test_a_slow_client_is_checked_within_a_large_record(account: Client) -> None:
    make_project(account, geometry=polygon(5_000))
    with _begin(account) as export:
        assert max(map(len, export.response)) == BLOCK
