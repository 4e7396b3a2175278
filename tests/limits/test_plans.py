"""The limits of the plan on /v1: the minute and the day of an account, over all its credentials."""

from __future__ import annotations

import time
from dataclasses import astuple
from datetime import timedelta

import pytest
from flask import Flask

from app.jobs.valkey import valkey
from app.limits.windows import LimitResult, Window
from app.policy.plans import PLANS
from app.usage.jobs import write_counts
from app.values import clock
from tests.limits.plans import shown, use_up
from tests.make import Client, make_account, make_key, make_service_token, put_on, requests_today
from tests.waiting import wait_for


def test_the_minute_of_a_plan_is_what_the_specification_says(app: Flask) -> None:
    client, limit = make_account(app, plan="free"), 60
    for used in range(1, limit + 1):
        response = client.get("/v1/account")
        assert (response.status_code, shown(response)) == (200, (limit, limit - used))
        with app.app_context():  # however long all of them take
            valkey().client.pexpire(f"canopy:window:{client.account_id}", 59_000)
    refused = client.get("/v1/account")
    assert (refused.status_code, shown(refused)) == (429, (limit, 0))


def test_the_table_is_that_of_the_specification() -> None:
    assert {name: astuple(plan)[:4] for name, plan in PLANS.items()} == {
        "free": (60, 1000, 1000, 3),
        "pro": (300, 10_000, 50_000, 25),
        "enterprise": (1000, None, None, None),
    }


def test_a_refusal_says_which_window_of_which_plan_and_when_to_come_back(limited: Flask) -> None:
    client = make_account(limited, plan="few")
    began = time.time()
    use_up(client, 3)
    asked = time.time()
    response = client.get("/v1/account")
    answered = time.time()
    error = response.json["error"]
    wait = int(response.headers["Retry-After"])
    assert (error["code"], error["details"]) == ("RATE_LIMITED", [])
    assert error["message"].startswith("The plan few allows 3 requests a minute")
    assert f"{wait} seconds" in error["message"]
    assert 60 - (answered - began) <= wait + 1 <= 61
    # Both are rounded up.
    assert asked - 2 < int(response.headers["X-RateLimit-Reset"]) - wait < answered + 2


def test_all_credentials_of_an_account_share_its_windows(limited: Flask, app: Flask) -> None:
    client = make_account(limited, plan="few")
    for bearer in (client, make_key(client), make_service_token(client)):
        use_up(bearer, 1)
    assert make_key(client).get("/v1/account").status_code == 429
    assert make_account(limited, plan="few").get("/v1/account").status_code == 200


def test_the_window_that_runs_out_first_is_shown(limited: Flask) -> None:
    client = make_account(limited, plan="few")
    assert shown(client.get("/v1/account")) == (3, 2)
    assert shown(make_account(limited, plan="short-day").get("/v1/account")) == (4, 3)


def test_the_day_is_that_of_utc(limited: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    client = make_account(limited, plan="short-day")
    last = clock.parse_time("2026-03-31T23:59:58.500Z")
    monkeypatch.setattr(clock, "now", lambda: last)
    use_up(client, 4)
    refused = client.get("/v1/account")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "2")
    assert "a day" in refused.json["error"]["message"]
    monkeypatch.setattr(clock, "now", lambda: last + timedelta(seconds=1.5))
    assert shown(client.get("/v1/account")) == (4, 3)


def test_a_clock_that_is_moved_leaves_the_limits_sane(
    limited: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, now = make_account(limited, plan="few"), clock.now()
    use_up(client, 3)
    for hours in (1, 24, -1, -24):
        moved = now + timedelta(hours=hours)
        monkeypatch.setattr(clock, "now", lambda moved=moved: moved)
        refused = client.get("/v1/account")
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        ahead = int(refused.headers["X-RateLimit-Reset"]) - moved.timestamp()
        assert 0 <= ahead <= 61


def test_retry_after_is_rounded_up_and_never_zero() -> None:
    for left, wait in ((1.2, 2), (1.0, 1), (0.09, 1), (0.0, 1), (-3.0, 1)):
        refused = LimitResult(False, 1000.0, (Window("minute", 3, 3, 1000.0 + left),))
        assert refused.retry_after() == wait


def test_after_its_window_an_account_has_a_new_one(limited: Flask) -> None:
    client = make_account(limited, plan="few")
    use_up(client, 3)
    with limited.app_context():
        valkey().client.pexpire(f"canopy:window:{client.account_id}", 50)
    answer = wait_for(lambda: (got := client.get("/v1/account")).status_code == 200 and got)
    assert shown(answer) == (3, 2)


def test_a_changed_plan_holds_at_once_and_begins_no_new_window(limited: Flask) -> None:
    client = make_account(limited, plan="few")
    use_up(client, 3)
    assert client.get("/v1/account").status_code == 429
    put_on(client, "hundred")
    assert shown(client.get("/v1/account")) == (100, 96)
    put_on(client, "few")
    assert client.get("/v1/account").status_code == 429


def test_a_plan_that_is_no_longer_in_the_file_has_the_limits_of_the_default_plan(
    limited: Flask, app: Flask
) -> None:
    client = make_account(limited, plan="hundred")
    again = Client(app, client.account_id, client.owner_id, client.token)
    assert shown(again.get("/v1/account")) == (60, 59)
    assert again.get("/v1/account/usage").json["data"]["members"]["limit"] == 3


def test_a_plan_without_limits_has_no_headers_and_counts(limited: Flask) -> None:
    client = make_account(limited, plan="boundless")
    response = limited.test_client().get("/v1/account", headers=client.authorization)
    assert response.status_code == 200
    assert not [name for name, _ in response.headers if name.startswith("X-RateLimit")]
    assert requests_today(client) == 1


def test_refused_requests_do_not_shorten_the_day(limited: Flask) -> None:
    client = make_account(limited, plan="few")
    use_up(client, 3)
    for _ in range(10):
        assert client.get("/v1/account").status_code == 429
    assert requests_today(client) == 3


def test_the_day_survives_a_store_that_forgets(limited: Flask) -> None:
    client = make_account(limited, plan="short-day")
    use_up(client, 3)
    with limited.app_context():
        write_counts()
        valkey().client.flushall()
    assert shown(client.get("/v1/account")) == (4, 0)
    for _ in range(2):
        assert client.get("/v1/account").status_code == 429


def test_a_window_that_lost_its_end_or_ends_too_late_begins_anew(limited: Flask) -> None:
    """Nobody is locked out for ever, whatever was done to Valkey or its machine's clock."""
    client = make_account(limited, plan="few")
    key = f"canopy:window:{client.account_id}"
    with limited.app_context():
        store = valkey().client
    changes = ((3, lambda: store.persist(key)), (2, lambda: store.pexpire(key, 86_460_000)))
    for left, change in changes:
        use_up(client, left)
        change()
        assert shown(client.get("/v1/account")) == (3, 2)
        assert 0 < store.pttl(key) <= 60_000
