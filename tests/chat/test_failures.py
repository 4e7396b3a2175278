"""The model's server fails in every way there is: the answer is 503, in time, and says so."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import threading
import time
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.policy.deliveries import FailureReason
from tests.chat.conftest import KEY, ask, reply
from tests.chat.server import (
    HEAD,
    ModelServer,
    Step,
    answers,
    closes,
    drips,
    floods,
    gives,
    hangs,
    says,
    sends,
    wants,
)
from tests.make import Client, second_app

CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
FIFTY_MB = HEAD + b"Content-Length: 52428800\r\n\r\n"
BOMB = gzip.compress(b" " * 50_000_000)
SECRET = "what-was-said"
CLOSED, NO_HTTP = FailureReason.CLOSED, FailureReason.NOT_HTTP
CALLS = [{"type": "function", "function": {"name": "usage", "arguments": "{}"}}]


def _choices(*choices: Any) -> Step:
    return answers(json.dumps({"choices": choices}).encode())


def _calls(*calls: Any) -> Step:
    return gives({"content": None, "tool_calls": list(calls)})


REFUSED = {
    "closes": (closes, CLOSED),
    "closes in the body": (sends(HEAD + b"Content-Length: 9\r\n\r\n{"), CLOSED),
    "closes in a chunk": (sends(CHUNKED + b"f\r\n{"), CLOSED),
    "is no HTTP": (sends(b"SSH-2.0-OpenSSH_9.6\r\n"), NO_HTTP),
    "a head without end": (floods(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 99), NO_HTTP),
    "500": (answers(b"{}", "500 Internal Server Error"), "status 500"),
    "500 of 50 MB": (floods(FIFTY_MB.replace(b"200 OK", b"500 No"), b"x" * 9999), "status 500"),
    "429": (answers(b"{}", "429 Too Many Requests", "Retry-After: 1"), "status 429"),
    "401": (answers(b'{"error": "bad key"}', "401 Unauthorized"), "status 401"),
    "204": (sends(b"HTTP/1.1 204 No Content\r\n\r\n"), "status 204"),
    "101": (sends(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"), "status 101"),
    "html": (answers(b"<html>Hello</html>", "200 OK", "Content-Type: text/html"), "malformed"),
    "nothing": (answers(b""), "malformed"),
    "no UTF-8": (answers(b'{"choices": [{"message": {"content": "\xff"}}]}'), "malformed"),
    "a lone surrogate": (
        answers(b'{"choices": [{"message": {"content": "\\ud800"}}]}'),
        "malformed",
    ),
    "deep": (answers(b"[" * 400_000), "malformed"),
    "null": (answers(b"null"), "malformed"),
    "a text": (answers(b'"choices"'), "malformed"),
    "an error": (answers(b'{"error": {"message": "x"}}'), "malformed"),
    "no choices": (_choices(), "malformed"),
    "a choice of null": (_choices(None), "malformed"),
    "no message": (_choices({"index": 0}), "malformed"),
    "a number": (gives({"content": 5}), "malformed"),
    "parts": (gives({"content": [{"type": "text", "text": "Yes."}]}), "malformed"),
    "calls that are no list": (gives({"content": None, "tool_calls": {"a": 1}}), "malformed"),
    "a call of null": (_calls(None), "malformed"),
    "a call without name": (_calls({"function": {"arguments": "{}"}}), "malformed"),
    "arguments of object": (_calls({"function": {"name": "a", "arguments": [1]}}), "malformed"),
    "null and no calls": (gives({"content": None}), "empty"),
    "neither": (gives({}), "empty"),
    "an empty reply": (says(""), "empty"),
    "a blank reply": (says(" \n\x00 "), "empty"),
    "more than 1 MB": (answers(b" " * 1_048_577), "too long"),
    "50 MB": (floods(FIFTY_MB, b"x" * 65536), "too long"),
    "endless chunks": (floods(CHUNKED, b"40\r\n" + b" " * 64 + b"\r\n"), "too long"),
    "an endless body": (floods(HEAD + b"\r\n", b" " * 65536), "too long"),
    "compressed": (answers(BOMB, "200 OK", "Content-Encoding: gzip"), "malformed"),
    "an unknown coding": (answers(b"{}", "200 OK", "Content-Encoding: bees"), "malformed"),
}  # fmt: skip


@pytest.mark.provokes(503)
def test_a_useless_answer_is_503(
    caller: Client,
    model: ModelServer,
    caplog: pytest.LogCaptureFixture,
    subtests: pytest.Subtests,
) -> None:
    for name, (step, kind) in REFUSED.items():
        caplog.clear()
        model.plays(step)
        with subtests.test(name), caplog.at_level(logging.DEBUG):
            assert_useless(ask(caller, SECRET), model, caplog, kind)


def assert_useless(
    response: TestResponse, model: ModelServer, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    assert response.status_code == 503
    assert response.json["error"]["code"] == "SERVICE_UNAVAILABLE"
    assert response.json["error"]["message"].startswith("The model")
    assert response.headers["Retry-After"] == "10"
    assert len(model.asked) == 1  # it is not tried again
    lines = [record.getMessage() for record in caplog.records if "chat" in record.name]
    assert lines == [f"chat request failed: {kind}"]
    everything = repr([vars(record) for record in caplog.records])
    assert SECRET not in everything
    assert KEY not in everything


GIVEN_UP = 30.0  # seconds; who waits longer for what never comes has not given it up
SLOW = {
    "hangs": hangs,
    "a line of the head at a time": drips(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
    "continue, and continue": drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a chunk at a time": drips(CHUNKED, b"1\r\n \r\n"),
    "a body that does not end": drips(HEAD + b"\r\n", b" "),
}


@pytest.mark.provokes(503)
@pytest.mark.parametrize("name", SLOW)
@pytest.mark.slow
def test_a_slow_answer_is_given_up_in_time(
    caller: Client,
    model: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
) -> None:
    monkeypatch.setattr("app.policy.chat.SECONDS", 0.3)
    model.plays(SLOW[name])
    begun = time.monotonic()
    response = ask(caller)
    assert 0.3 <= time.monotonic() - begun < GIVEN_UP
    assert response.status_code == 503
    assert "in time" in response.json["error"]["message"]
    assert "chat request failed: too late" in caplog.messages


@pytest.mark.provokes(503)
def test_the_deadline_is_for_all_rounds_together(
    caller: Client, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(connection: socket.socket, over: threading.Event) -> None:
        over.wait(0.3)
        wants(("usage", {}))(connection, over)

    monkeypatch.setattr("app.policy.chat.SECONDS", 0.8)
    model.plays(slowly)
    begun = time.monotonic()
    assert ask(caller).status_code == 503
    assert time.monotonic() - begun >= 0.8
    assert len(model.asked) <= 3


@pytest.mark.provokes(503)
def test_tools_have_no_time_past_the_deadline(
    caller: Client, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []

    def slow_tool(*_: Any) -> str:
        called.append(1)
        time.sleep(0.3)
        return "{}"

    monkeypatch.setattr("app.policy.chat.SECONDS", 0.7)
    monkeypatch.setattr("app.chat.tools.call_tool", slow_tool)
    model.plays(wants(*[("usage", {})] * 16))
    assert ask(caller).status_code == 503
    assert len(called) <= 3


@pytest.mark.provokes(503)
def test_a_name_that_is_never_resolved_is_given_up_too(
    caller: Client, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: over.wait(2 * GIVEN_UP))
    monkeypatch.setattr("app.policy.chat.SECONDS", 0.5)
    with second_app(caller.app, chat_base_url="http://models.example/v1") as made:
        begun = time.monotonic()
        response = ask(Client(made, caller.account_id, caller.owner_id, caller.token))
        assert time.monotonic() - begun < GIVEN_UP
    over.set()
    assert response.status_code == 503
    assert "in time" in response.json["error"]["message"]


@pytest.mark.slow
@pytest.mark.provokes(503)
def test_a_handshake_that_does_not_end_is_given_up(
    caller: Client, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.policy.chat.SECONDS", 0.5)
    url = model.url.replace("http://", "https://")  # it waits for the head of a request
    with second_app(caller.app, chat_base_url=url) as made:
        begun = time.monotonic()
        response = ask(Client(made, caller.account_id, caller.owner_id, caller.token))
        assert time.monotonic() - begun < GIVEN_UP
    assert response.status_code == 503


@pytest.mark.provokes(503)
def test_a_redirect_is_not_followed(caller: Client, model: ModelServer) -> None:
    model.plays(answers(b"", "307 Temporary Redirect", f"Location: {model.url}/other"), says("No!"))
    assert ask(caller).status_code == 503
    assert len(model.asked) == 1


@pytest.mark.provokes(503)
@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "http://a b/", "http://x.invalid"])
def test_a_server_that_is_not_there_is_503(caller: Client, url: str) -> None:
    with second_app(caller.app, chat_base_url=url) as made:
        response = ask(Client(made, caller.account_id, caller.owner_id, caller.token))
    assert response.status_code == 503
    assert "cannot be reached" in response.json["error"]["message"]


@pytest.mark.provokes(503)
def test_a_key_that_no_header_takes_is_503(caller: Client) -> None:
    with second_app(caller.app, chat_api_key="schlüssel\nX: y 森") as made:
        response = ask(Client(made, caller.account_id, caller.owner_id, caller.token))
    assert response.status_code == 503


@pytest.mark.provokes(503)
def test_after_a_failure_the_next_question_is_answered(caller: Client, model: ModelServer) -> None:
    for _ in range(6):  # more than there are places
        model.plays(closes)
        assert ask(caller).status_code == 503
    model.plays(says("Yes."))
    assert reply(caller) == "Yes."


def test_calls_without_an_id_are_answered(caller: Client, model: ModelServer) -> None:
    model.plays(gives({"tool_calls": [*CALLS, {"id": "", **CALLS[0]}]}), says("Yes."))
    assert reply(caller) == "Yes."
    sent = [message["tool_call_id"] for message in model.asked[1].messages[-2:]]
    echoed = [call["id"] for call in model.asked[1].messages[-3]["tool_calls"]]
    assert sent == echoed == ["call_1", "call_2"]
