"""What a chat takes from the others: threads, connections, memory."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from flask import Flask

from app.db import queries
from app.db.extensions import db
from tests.chat.conftest import ask, reply
from tests.chat.server import ModelServer, Step, closes, says, waits_for, wants
from tests.make import Client, make_account, make_project, second_app
from tests.waiting import PATIENCE, wait_for


@pytest.mark.slow
@pytest.mark.provokes(503)
@pytest.mark.parametrize(("threads", "slots"), [(1, 1), (5, 2)])
def test_half_of_the_threads_may_chat(
    app: Flask, model: ModelServer, threads: int, slots: int
) -> None:
    answered: list[int] = []
    go_on = threading.Event()
    model.plays(waits_for(go_on, says("Yes.")))
    with second_app(
        app, chat_base_url=model.url, chat_model="forest-1", web_threads=threads
    ) as made:
        caller = make_account(made)
        others = [make_account(made) for _ in range(slots)]
        talking = [
            threading.Thread(target=lambda other=other: answered.append(ask(other).status_code))
            for other in others
        ]
        for thread in talking:
            thread.start()
        wait_for(lambda: len(model.asked) == slots)
        refused = ask(caller)
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "5"
        assert refused.json["error"]["message"].startswith("The chat is answering as many")
        assert caller.get("/v1/projects").status_code == 200
        go_on.set()
        for thread in talking:
            thread.join(PATIENCE)
        assert answered == [200] * slots
        assert reply(caller) == "Yes."


@pytest.mark.provokes(503)
def test_an_account_talks_once_at_a_time(app: Flask, model: ModelServer) -> None:
    answered: list[int] = []
    go_on = threading.Event()
    model.plays(waits_for(go_on, says("Yes.")))
    with second_app(app, chat_base_url=model.url, chat_model="forest-1", web_threads=4) as made:
        caller, other = make_account(made), make_account(made)
        talking = threading.Thread(target=lambda: answered.append(ask(caller).status_code))
        talking.start()
        wait_for(lambda: len(model.asked) == 1)
        assert ask(caller).status_code == 503
        go_on.set()
        assert reply(other) == "Yes."
        talking.join(PATIENCE)
        assert answered == [200]
        assert reply(caller) == "Yes."


@pytest.mark.provokes(500, 503)
def test_a_slot_is_given_back_whatever_happens(
    caller: Client, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: Any) -> Any:
        raise RuntimeError("a fault of ours")

    for _ in range(4):
        model.plays(closes)
        assert ask(caller).status_code == 503
    with monkeypatch.context() as patch:
        patch.setattr("app.chat.tools.call_tool", breaks)
        for _ in range(4):
            model.plays(wants(("usage", {})))
            assert ask(caller).status_code == 500
    model.plays(says("Yes."))
    assert reply(caller) == "Yes."


def test_no_connection_of_the_database_waits_for_the_model(
    caller: Client, model: ModelServer
) -> None:
    held: list[int] = []
    app = caller.app
    make_project(caller)

    def counts(then: Step) -> Step:
        def step(*args: Any) -> None:
            with app.app_context():
                for engine in (queries.reading_engine(), db.engine):
                    held.append(engine.pool.checkedout())  # type: ignore[attr-defined]
            then(*args)

        return step

    model.plays(
        counts(wants(("list_projects", {}), ("usage", {}))),
        counts(wants(("summarize_projects", {}))),
        counts(says("Yes.")),
    )
    assert reply(caller) == "Yes."
    assert held == [0] * 6
