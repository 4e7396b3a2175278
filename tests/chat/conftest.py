"""An application with a model, which does as a test says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.auth.credentials import authenticate_header
from app.chat import tools
from app.policy import chat as policy
from tests.chat.server import ModelServer, says, wants
from tests.make import Client, make_account, second_app

KEY = "sk-of-the-operator"


@pytest.fixture(scope="session")
def _server() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def _chat_app(app: Flask, _server: ModelServer) -> Iterator[Flask]:
    settings = {"chat_base_url": _server.url, "chat_model": "forest-1", "chat_api_key": KEY}
    with second_app(app, **settings, web_threads=4) as made:
        yield made


@pytest.fixture
def model(_server: ModelServer) -> Iterator[ModelServer]:
    """The model's server, which says «Yes.» unless it is told otherwise."""
    _server.plays(says("Yes."))
    yield _server
    _server.plays(says("Yes."))  # ends what still hangs


@pytest.fixture
def caller(_chat_app: Flask, model: ModelServer) -> Client:
    """A caller who may do everything, of an instance with a chat."""
    return make_account(_chat_app)


def ask(caller: Client, message: str = "How many?", **fields: Any) -> TestResponse:
    """Send a question to the chat."""
    return caller.post("/api/chat", json={"message": message} | fields)


def reply(caller: Client, message: str = "How many?", **fields: Any) -> str:
    """Send a question that is answered, and give the reply."""
    response = ask(caller, message, **fields)
    assert response.status_code == 200, response.get_data(as_text=True)
    return response.json["data"]["reply"]


def read(caller: Client, model: ModelServer, name: str, arguments: Any = "{}") -> Any:
    """What a tool gives the model when it is called for this caller."""
    model.plays(wants((name, arguments)), says("Yes."))
    assert reply(caller) == "Yes."
    (result,) = model.asked[1].results
    assert len(model.asked[1].messages[-1]["content"].encode()) <= policy.RESULT_BYTES
    return result


def called(caller: Client, name: str, arguments: str) -> Any:
    """What a tool gives, without a model in between."""
    with caller.app.test_request_context():
        principal = authenticate_header(f"Bearer {caller.token}", "127.0.0.1")
        text = tools.call_tool(principal, name, arguments)
    assert len(text.encode()) <= policy.RESULT_BYTES
    return json.loads(text)
