"""The window of map programs, beside that of the API."""

from __future__ import annotations

from typing import Any

from flask import Flask

from app.account.lookup import find_account
from app.limits import request_counts
from tests.limits.conftest import limited as limited
from tests.limits.conftest import plans_file as plans_file
from tests.limits.plans import shown
from tests.make import Client, make_account, requests_today, sign_up


def test_ten_times_as_many_requests_pass_as_the_plan_allows_to_the_api(limited: Flask) -> None:
    client = make_account(limited, plan="few")
    assert shown(client.get("/ogc")) == (30, 29)
    for _ in range(29):
        assert client.get("/ogc/conformance").status_code == 200
    rejected = client.get("/ogc")
    assert rejected.status_code == 429
    assert int(rejected.headers["Retry-After"]) >= 1
    assert "The plan few allows 30 requests a minute" in rejected.json["error"]["message"]
    assert client.get("/v1/account").status_code == 200  # a window of its own
    assert requests_today(client) == 31


def test_requests_of_maps_count_for_the_day(limited: Flask) -> None:
    client = make_account(limited, plan="short-day")
    for _ in range(3):
        assert client.get("/ogc").status_code == 200
    assert client.get("/v1/account").status_code == 200
    assert client.get("/ogc").status_code == 429
    assert requests_today(client) == 4


def test_guesses_share_the_window_of_the_api(app: Flask, client: Client) -> None:
    visitor = app.test_client()
    statuses = {visitor.get("/ogc?key=canopy_key_x").status_code for _ in range(60)}
    assert statuses == {401}
    assert visitor.get("/ogc", headers={"X-Api-Key": "x"}).status_code == 429
    assert visitor.get("/v1/projects").status_code == 429


def test_a_plan_without_limits_has_none_here(limited: Flask) -> None:
    client = make_account(limited, plan="boundless")
    response: Any = client.get("/ogc")
    assert "X-RateLimit-Limit" not in response.headers


def test_a_session_counts_for_its_account_too(app: Flask) -> None:
    browser = sign_up(app, "gis-limits@example.org", account="Session of maps")
    for number in range(3):
        address = {"REMOTE_ADDR": f"192.0.2.{number}"}
        assert browser.client.get("/ogc", environ_overrides=address).status_code == 200
    with app.app_context():
        account_id = find_account("session-of-maps").id
        counted = request_counts.requests_on(account_id, [request_counts.today_utc()])
    assert counted == 3
