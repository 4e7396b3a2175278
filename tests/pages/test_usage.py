"""The page of usage: meters of limits, requests by day and by credential, and their file."""

from __future__ import annotations

from flask import Flask

from app.db.transactions import transaction
from app.usage.counters import check_thresholds
from app.values import clock
from tests.make import Browser, Client, make_account, make_key, put_on, second_app
from tests.pages.support import browser_of
from tests.usage.helpers import set_counters


def test_nothing_yet(browser: Browser) -> None:
    page = browser.get("/usage")
    assert page.status == 200
    assert "No requests in the last 30 days." in page.text
    assert "1 unused in the last 30 days" in page.text
    assert "never used" in page.text
    assert "No limit." in page.text


def test_requests_by_credential_and_of_one(client: Client, browser: Browser) -> None:
    key = make_key(client)
    for caller in (client, key, key, key):
        caller.get("/v1/account")
    page = browser.get("/usage")
    assert "4 requests in the last 30 days" in page.text
    assert "75.0%" in page.text
    assert "25.0%" in page.text
    one = browser.get(f"/usage?days=7&credential={key.credential_id}")
    assert "3 of 4 requests" in one.text
    assert f"{clock.now():%m/%d/%Y}: Requests 3" in one.text


def test_what_an_address_cannot_ask_for_is_left_out(browser: Browser) -> None:
    for query in ["days=8", "days=x", "credential=key_x", "credential=%00"]:
        page = browser.get(f"/usage?{query}")
        assert page.status == 200
        assert '"/usage#requests" aria-current="true">30 days' in page.response.text
        assert "Show all" not in page.text


def test_near_and_over_a_limit(client: Client, browser: Browser) -> None:
    put_on(client, "free")
    set_counters(client, area_m2=9_000_000, members=3)
    with client.app.app_context(), transaction():
        check_thresholds(client.account_id)
    page = browser.get("/usage")
    assert "900.00 ha" in page.text
    assert "near the limit" in page.text
    assert "at the limit" in page.text
    assert "over the limit" not in page.text
    assert page.text.count("90% reached") == 2
    assert "limits requests to 60 a minute and 1,000 a day" in page.text
    assert "another plan" in page.text


def test_a_threshold_that_is_reached_again_is_listed_once(client: Client, browser: Browser) -> None:
    put_on(client, "free")
    for hectares in (800, 700, 800):
        set_counters(client, area_m2=hectares * 10_000)
        with client.app.app_context(), transaction():
            check_thresholds(client.account_id)
    reached = client.get("/v1/events?type=usage.threshold_reached").json["data"]
    assert len(reached) == 2
    shown = browser.get("/usage").text
    assert shown.count("75% reached") == 1


def test_the_file_of_requests(client: Client, browser: Browser) -> None:
    client.get("/v1/account")
    page = browser.get("/usage/requests.csv?days=7")
    assert page.response.headers["Content-Type"] == "text/csv; charset=utf-8"
    lines = page.response.text.splitlines()
    assert lines[0] == "day,credential_id,type,name,requests"
    assert lines[1].startswith(f"{clock.day_of(clock.now())},{client.credential_id},api_key,")


def test_the_part_that_follows_what_happens(client: Client, browser: Browser) -> None:
    part = browser.get("/usage", headers={"HX-Request": "true"})
    assert part.response.text.lstrip().startswith('<div id="usage"')
    headers = {"HX-Request": "true", "If-None-Match": part.response.headers["ETag"]}
    assert browser.get("/usage", headers=headers).status == 304
    client.get("/v1/account")
    assert browser.get("/usage", headers=headers).status == 200


def test_it_shows_nothing_of_another_account(
    client: Client, stranger: Client, browser: Browser
) -> None:
    stranger.get("/v1/account")
    page = browser.get(f"/usage?credential={stranger.credential_id}")
    assert "No requests in the last 30 days." in page.text


def test_it_works_while_valkey_is_down(app: Flask) -> None:
    with second_app(app, redis_url="redis://127.0.0.1:9/0") as cut_off:
        client = make_account(cut_off)
        browser = browser_of(client)
        client.get("/v1/account")
        client.get("/v1/account")
        assert "1 request in the last 30 days" in browser.get("/usage").text
