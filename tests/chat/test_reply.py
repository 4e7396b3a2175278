"""A question and its reply: what comes in, what the model's server is sent, what goes out."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.policy.fields import PROJECT, filters_of
from app.values.version import VERSION
from tests.chat.conftest import KEY, ask, reply
from tests.chat.server import ModelServer, says
from tests.make import Client, make_account, make_service_token, second_app

LONG = "x" * 4_000


def test_a_question_is_answered(caller: Client, model: ModelServer) -> None:
    model.plays(says("You have 3 projects."))
    response = ask(caller, "How many projects do I have?")
    assert response.status_code == 200
    assert response.json["data"] == {"reply": "You have 3 projects."}
    assert list(response.json["meta"]) == ["request_id"]
    assert response.headers["Cache-Control"] == "no-store"


def test_the_model_is_told_who_it_is_and_what_was_said(caller: Client, model: ModelServer) -> None:
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello!"}]
    reply(caller, "  And now?  ", history=history)
    (asked,) = model.asked
    system, *said = asked.messages
    assert system["role"] == "system"
    assert "never an instruction" in system["content"]
    assert "say that you do not know" in system["content"]
    assert said == [*history, {"role": "user", "content": "And now?"}]
    assert asked.line == "POST /v1/chat/completions HTTP/1.1"
    assert set(asked.body) == {"model", "messages", "tools"}
    assert asked.body["model"] == "forest-1"


def test_the_model_is_told_of_the_tools(caller: Client, model: ModelServer) -> None:
    reply(caller)
    functions = {
        tool["function"]["name"]: tool["function"] for tool in model.asked[0].body["tools"]
    }
    assert set(functions) == {
        *("list_projects", "read_project", "summarize_projects", "summarize_assets"),
        *("list_assets", "read_asset", "usage"),
    }
    shape = functions["list_projects"]["parameters"]
    others = {"search", "sort", "order", "page", "per_page"}
    assert shape["properties"].keys() == others | filters_of(PROJECT).keys()
    assert shape["additionalProperties"] is False
    assert functions["read_asset"]["parameters"]["required"] == ["asset_id", "project_id"]
    assert all(function["description"] for function in functions.values())


def test_the_server_gets_the_operators_key_and_nothing_of_the_caller(
    caller: Client, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-shell")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    reply(caller)
    (asked,) = model.asked
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["user-agent"] == f"Canopy/{VERSION}"
    assert asked.headers["accept-encoding"] == "identity"
    assert set(asked.headers) == {
        *("host", "accept", "accept-encoding", "content-length", "content-type"),
        *("user-agent", "authorization"),
    }
    everything = repr(asked)
    assert "of-the-shell" not in everything
    assert caller.token is not None
    assert caller.token not in everything
    assert caller.account_id not in everything
    assert caller.owner_id not in everything


def test_a_server_without_a_key_gets_none_that_means_anything(
    app: Flask, model: ModelServer
) -> None:
    with second_app(app, chat_base_url=model.url + "/", chat_model="forest-1") as keyless:
        reply(make_account(keyless))
    assert model.asked[0].headers["authorization"] == "Bearer none"
    assert model.asked[0].line == "POST /v1/chat/completions HTTP/1.1"


def test_a_credential_is_needed(caller: Client, model: ModelServer) -> None:
    response = ask(caller.nobody())
    assert response.status_code == 401
    assert response.json["error"]["code"] == "UNAUTHORIZED"
    assert response.headers["WWW-Authenticate"].startswith("Bearer ")
    headers = {"Authorization": "Bearer canopy_key_junk"}
    assert caller.nobody().post("/api/chat", json={}, headers=headers).status_code == 401
    assert not model.asked


def test_a_service_token_may_ask_too(caller: Client, model: ModelServer) -> None:
    assert reply(make_service_token(caller)) == "Yes."


def test_a_question_of_another_form_is_refused(caller: Client, model: ModelServer) -> None:
    for body, field in (
        ({}, "message"),
        ({"message": ""}, "message"),
        ({"message": " \n"}, "message"),
        ({"message": LONG + "x"}, "message"),
        ({"message": 5}, "message"),
        ({"message": None}, "message"),
        ({"message": ["a"]}, "message"),
        ({"message": "a\x00b"}, "message"),
        ({"message": "a", "model": "other"}, "model"),
        ({"message": "a", "history": "b"}, "history"),
        ({"message": "a", "history": None}, "history"),
        ({"message": "a", "history": {}}, "history"),
        ({"message": "a", "history": ["b"]}, "history.0"),
        ({"message": "a", "history": [{"role": "user", "content": "b"}] * 21}, "history"),
        ({"message": "a", "history": [{"role": "user"}]}, "history.0.content"),
        ({"message": "a", "history": [{"role": "user", "content": ""}]}, "history.0.content"),
        ({"message": "a", "history": [{"role": "user", "content": None}]}, "history.0.content"),
        ({"message": "a", "history": [{"role": "system", "content": "b"}]}, "history.0.role"),
        ({"message": "a", "history": [{"role": "tool", "content": "b"}]}, "history.0.role"),
        (
            {"message": "a", "history": [{"role": "user", "content": LONG + "x"}]},
            "history.0.content",
        ),
        (
            {"message": "a", "history": [{"role": "assistant", "content": LONG * 4 + "x"}]},
            "history.0.content",
        ),
        (
            {"message": "a", "history": [{"role": "user", "content": "b", "name": "c"}]},
            "history.0.name",
        ),
    ):
        response = caller.post("/api/chat", json=body)
        assert response.status_code == 422
        assert [detail["field"] for detail in response.json["error"]["details"]] == [field], body
    assert not model.asked


def test_the_longest_question_passes(caller: Client, model: ModelServer) -> None:
    turns = [{"role": "user", "content": LONG}, {"role": "assistant", "content": LONG * 4}] * 10
    assert reply(caller, LONG, history=turns) == "Yes."
    assert len(model.asked[0].messages) == 22


def test_a_long_history_is_refused_before_it_is_read(caller: Client) -> None:
    response = ask(caller, history=[{"bees": 1}] * 15_000)
    assert response.status_code == 422
    (detail,) = response.json["error"]["details"]
    message = "Must have at most 20 elements."
    assert detail == {"field": "history", "message": message, "code": "too_many"}


def test_a_body_that_is_no_json_is_refused(caller: Client, model: ModelServer) -> None:
    bodies: tuple[tuple[dict[str, Any], int], ...] = (
        ({"data": b"{", "content_type": "application/json"}, 400),
        ({"data": b'{"message": "a", "message": "b"}', "content_type": "application/json"}, 400),
        ({"data": b"message=a", "content_type": "application/x-www-form-urlencoded"}, 415),
        ({"data": b"", "content_type": "application/json"}, 422),
    )
    for options, status in bodies:
        assert caller.post("/api/chat", **options).status_code == status
    assert not model.asked


def test_parameters_and_other_methods_are_refused(caller: Client) -> None:
    assert caller.post("/api/chat?a=1", json={"message": "a"}).status_code == 400
    response = caller.get("/api/chat")
    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"


def test_a_reply_can_be_sent_back(caller: Client, model: ModelServer) -> None:
    for said, told in (
        ("  \n Yes. \n", "Yes."),
        ("a\x00b", "ab"),
        ("y" * 16_000, "y" * 16_000),
        ("y" * 16_001, "y" * 15_999 + "…"),
        ("🌲" * 20_000, "🌲" * 15_999 + "…"),
    ):
        model.plays(says(said))
        assert reply(caller) == told
        assert ask(caller, history=[{"role": "assistant", "content": told}]).status_code == 200


@pytest.mark.provokes(503)
@pytest.mark.parametrize("missing", ["chat_base_url", "chat_model"])
def test_without_a_model_the_operator_is_told_what_to_set(
    app: Flask, model: ModelServer, missing: str
) -> None:
    settings = {"chat_base_url": model.url, "chat_model": "forest-1"} | {missing: None}
    with second_app(app, **settings) as made:
        response = ask(make_account(made))
    assert response.status_code == 503
    assert response.json["error"]["code"] == "SERVICE_UNAVAILABLE"
    assert "CHAT_BASE_URL and CHAT_MODEL" in response.json["error"]["message"]
    assert response.headers["Retry-After"] == "3600"
    assert not model.asked
