"""How many questions an account may ask in a day (docs/chat.md, "Asking")."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.jobs.valkey import valkey
from app.policy.plans import PLANS
from tests.chat.conftest import ask
from tests.chat.server import ModelServer, answers
from tests.make import Client, make_account, make_key, second_app

PLAN = "[two]\nchat_questions_per_day = 2\n\n[boundless]\n"
DAY = 24 * 60 * 60


@pytest.fixture(scope="module")
def plans_file(scratch: Path) -> Path:
    path = scratch / "question-plans.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture(scope="module")
def _limited(_chat_app: Flask, plans_file: Path) -> Iterator[Flask]:
    with second_app(_chat_app, plans_file=plans_file) as made:
        yield made


@pytest.fixture
def limited(_limited: Flask, model: ModelServer) -> Flask:
    """The application with a chat and these plans."""
    return _limited


def statuses(caller: Client, number: int) -> list[int]:
    return [ask(caller).status_code for _ in range(number)]


def test_the_numbers_of_the_plans() -> None:
    found = {name: plan.chat_questions_per_day for name, plan in PLANS.items()}
    assert found == {"free": 50, "pro": 500, "enterprise": None}


def test_an_account_asks_as_often_as_its_plan_allows(limited: Flask, model: ModelServer) -> None:
    caller = make_account(limited, plan="two")
    assert statuses(caller, 2) == [200, 200]
    asked = len(model.asked)
    refused = ask(caller)
    assert refused.status_code == 429
    assert len(model.asked) == asked
    wait = int(refused.headers["Retry-After"])
    assert DAY - 60 < wait <= DAY
    assert refused.headers["X-RateLimit-Limit"] == "2"
    error = refused.json["error"]
    assert error["code"] == "RATE_LIMITED"
    assert error["message"] == (
        "The plan two allows 2 chat questions a day, counted over all credentials of the account. "
        "Try again in 24 hours."
    )


def test_all_credentials_of_an_account_count_together_and_others_apart(limited: Flask) -> None:
    caller, other = make_account(limited, plan="two"), make_account(limited, plan="two")
    assert statuses(caller, 1) == [200]
    assert statuses(make_key(caller), 2) == [200, 429]
    assert statuses(other, 1) == [200]


def test_after_a_day_it_may_ask_again(limited: Flask) -> None:
    caller = make_account(limited, plan="two")
    statuses(caller, 3)
    with limited.app_context():
        key = f"canopy:window:questions:{caller.account_id}"
        assert 0 < valkey().client.ttl(key) <= DAY
        valkey().client.pexpire(key, 1)
    time.sleep(0.05)
    assert statuses(caller, 1) == [200]


def test_a_plan_without_the_limit_has_none(limited: Flask) -> None:
    assert statuses(make_account(limited, plan="boundless"), 4) == [200] * 4


def test_what_no_model_was_asked_does_not_count(limited: Flask) -> None:
    caller = make_account(limited, plan="two")
    assert ask(caller, "").status_code == 422
    assert ask(caller, history=[{}]).status_code == 422
    assert statuses(caller, 2) == [200, 200]


@pytest.mark.provokes(503)
def test_a_question_that_the_model_fails_to_answer_counts(
    limited: Flask, model: ModelServer
) -> None:
    caller = make_account(limited, plan="two")
    model.plays(answers(b"{}", "500 Internal Server Error"))
    assert statuses(caller, 3) == [503, 503, 429]


def test_an_answer_shows_what_is_left_of_the_tier(limited: Flask) -> None:
    response = ask(make_account(limited, plan="two"))
    assert response.headers["X-RateLimit-Limit"] == "30"


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{"redis_url": "redis://127.0.0.1:9/0"}, {"rate_limit_disabled": True}]
)
def test_without_valkey_or_limits_questions_pass(
    app: Flask, model: ModelServer, plans_file: Path, settings: dict[str, object]
) -> None:
    own = {"chat_base_url": model.url, "chat_model": "forest-1", "web_threads": 4}
    with second_app(app, plans_file=plans_file, **own, **settings) as made:
        assert statuses(make_account(made, plan="two"), 4) == [200] * 4
