"""The page of one webhook: health, charts, log, and each attempt."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.pages.webhooks.explanations import explain_attempt
from app.policy.deliveries import RETRIES_LAST, FailureReason
from app.values import clock
from app.webhooks.deliveries.types import INTERNAL_ERROR
from tests.make import (
    Browser,
    Client,
    deliveries,
    events,
    make_attempts,
    make_log,
    make_project,
    make_webhook,
)
from tests.make.browser import Page
from tests.make.webhooks import make_replay, set_deliveries, set_webhook

EVENT = "evt_01arz3ndektsv4rrffq69g5fav"
SUCCESS: dict[str, Any] = {"status": "success", "error": None, "response_code": 204}


def _path(webhook: dict[str, Any]) -> str:
    return f"/webhooks/{webhook['id']}"


def _get(owner: Browser, webhook: dict[str, Any], query: str = "") -> Page:
    return owner.get(f"{_path(webhook)}{query}")


def test_why_it_fails_is_the_first_thing(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    log_id = make_log(client, webhook["id"], EVENT)
    make_log(client, webhook["id"], EVENT, **SUCCESS)
    set_webhook(
        client, webhook["id"], consecutive_failures=3, failing_since=clock.now(),
        last_success_at=clock.now(),
    )  # fmt: skip
    page = _get(owner, webhook)
    assert "Failing since" in page.text
    assert "Your receiver answered 503 Service Unavailable." in page.text
    assert "Check that it runs." in page.text
    assert {f"{_path(webhook)}/logs/{log_id}", f"{_path(webhook)}/edit"} <= set(page.links)


def test_what_failed_for_good_can_be_sent_again(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    make_log(client, webhook["id"], EVENT)
    for began, is_offered in ((RETRIES_LAST / 2, False), (RETRIES_LAST * 2, True)):
        since = clock.now() - began
        set_webhook(client, webhook["id"], consecutive_failures=3, failing_since=since)
        page = _get(owner, webhook)
        assert (f"{_path(webhook)}/replay?only_failed=true" in page.links) is is_offered


def test_no_past_time_is_named_for_what_is_to_come(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    """As with rare attempts, or after a while in which nothing was sent."""
    make_log(client, webhook["id"], EVENT)
    for days, is_told in ((1, True), (20, False)):
        since = clock.now() - timedelta(days=days)
        set_webhook(client, webhook["id"], consecutive_failures=3, failing_since=since)
        text = _get(owner, webhook).text
        assert ("Without a success, the webhook is disabled" in text) is is_told


def test_what_to_do_after_410(client: Client, owner: Browser, webhook: dict[str, Any]) -> None:
    make_log(client, webhook["id"], EVENT, response_code=410, error="answered 410")
    set_webhook(
        client, webhook["id"], consecutive_failures=1, enabled=False, disabled_reason="gone"
    )
    page = _get(owner, webhook)
    assert "Correct the URL, then enable it again." in page.text
    assert page.form(f"/webhooks/{webhook['id']}/enable")
    assert f"/webhooks/{webhook['id']}/replay" not in page.links


def test_every_reason_is_explained() -> None:
    explained = {
        reason: explain_attempt({"status": "failed", "error": str(reason)})
        for reason in (*FailureReason, INTERNAL_ERROR)
    }
    assert all(each.what and each.todo for each in explained.values())
    assert len({each.what for each in explained.values()}) == len(explained)
    codes = [
        explain_attempt({"status": "failed", "response_code": code}) for code in range(100, 1000)
    ]
    assert all(each.todo for each in codes)
    assert explain_attempt({"status": "success", "response_code": 204}).todo == ""


@pytest.mark.both
def test_charts_have_the_numbers_of_their_hours(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    rows = [
        (0, "success", 40, 90), (0, "success", 3_000, 10), (1, "failed", 0, 7),
        (30, "success", 10, 1_000), (24 * 20, "failed", 0, 2_000),
    ]  # fmt: skip
    for hours, status, took_ms, number in rows:
        make_attempts(client, webhook["id"], timedelta(hours=hours), status, number, took_ms)
    page = _get(owner, webhook)
    assert "100 attempts succeeded, 7 failed" in page.text
    assert "3 s 40 ms" in page.text  # 95 of 100 within, half within
    assert "1,100 attempts succeeded, 7 failed" in _get(owner, webhook, "?days=7").text
    assert "1,100 attempts succeeded, 2,007 failed" in _get(owner, webhook, "?days=30").text
    assert "100 attempts succeeded, 7 failed" in _get(owner, webhook, "?days=31").text


def test_what_is_new_appears_on_the_first_page(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    def text(query: str = "") -> str:
        return _get(owner, webhook, query).response.get_data(as_text=True)

    path = f"/webhooks/{webhook['id']}"
    assert f'hx-get="{path}/log"' in text()
    assert f'hx-get="{path}/log?status=failed"' in text("?status=failed")
    older = "?before=log_01k9zqj2s8y4a7d0f3h6m9p1vb"
    for query in (older, "?since=2026-01-02T03:04", "?until=2026-01-02T03:04"):
        assert f'hx-get="{path}/log' not in text(query)
    for part in ("charts?days=7", "log", "health"):
        answer = owner.client.get(f"{path}/{part}", headers={"HX-Request": "true"})
        assert answer.status_code == 200
        assert b"<h1" not in answer.data
        tag = {"HX-Request": "true", "If-None-Match": answer.headers["ETag"]}
        assert owner.client.get(f"{path}/{part}", headers=tag).status_code == 304
    tag["If-None-Match"] = owner.client.get(f"{path}/log").headers["ETag"]
    make_log(client, webhook["id"], EVENT)
    assert b"answered" not in owner.client.get(f"{path}/health").data
    assert owner.client.get(f"{path}/log", headers=tag).status_code == 200


def test_a_test_is_sent(client: Client, owner: Browser, webhook: dict[str, Any]) -> None:
    _get(owner, webhook)
    page = owner.submit(f"/webhooks/{webhook['id']}/test")
    assert "A test is on its way." in page.text
    (row,) = deliveries(client, webhook["id"])
    assert row["cause"] == "test"


def test_one_attempt_with_what_was_sent(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    make_project(client, name="Wald <b>am</b> Fluß 森")
    (event,) = (each for each in events(client) if each["type"] == "project.created")
    (row,) = deliveries(client, webhook["id"])
    set_deliveries(client, webhook["id"], "pending", due_at=clock.now() + timedelta(minutes=5))
    first, second = (
        make_log(
            client, webhook["id"], event["id"], delivery_id=row["id"], attempt=number,
            response_time_ms=124, resolve_ms=3, connect_ms=None, tls_ms=40, wait_ms=58,
        )
        for number in (1, 2)
    )  # fmt: skip
    make_log(client, webhook["id"], event["id"])
    page = _get(owner, webhook, f"/logs/{second}")
    assert "Your receiver answered 503 Service Unavailable." in page.text
    assert "Attempt 2 of 6" in page.text
    assert '"name": "Wald <b>am</b> Fluß 森"' in page.text
    assert "<b>am</b>" not in page.response.get_data(as_text=True)
    assert "X-Service-Delivery" in page.text
    assert "Response bodies are not kept" in page.text
    assert "Connecting – TLS handshake 40 ms" in page.text
    assert [link.rpartition("/")[2] for link in page.links if "/logs/" in link] == [first, second]
    assert "next try" in page.text
    assert "is pending" in page.text
    page = owner.submit(f"/webhooks/{webhook['id']}/logs/{second}/redeliver")
    assert "The event is on its way again." in page.text
    assert [each["cause"] for each in deliveries(client, webhook["id"])] == ["event", "redelivery"]


def test_an_attempt_whose_event_is_gone(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    log_id = make_log(client, webhook["id"], EVENT, response_code=None, error="connection refused")
    page = _get(owner, webhook, f"/logs/{log_id}")
    assert "nothing listens on that port" in page.text
    assert "The event is no longer kept" in page.text
    assert "Redeliver" not in page.text


def test_how_far_a_replay_is(client: Client, owner: Browser, webhook: dict[str, Any]) -> None:
    assert "sent again" not in _get(owner, webhook, "/health").text
    make_replay(client, webhook["id"], total=4_000, queued=1_500, ended_at=None)
    text = _get(owner, webhook, "/health").response.get_data(as_text=True)
    assert "1,500 of 4,000 tried" in text
    assert '<progress max="4000" value="1500"' in text


def test_programs_have_the_path_and_not_the_secret(client: Client, owner: Browser) -> None:
    for url, path in [
        ("https://hooks.example.org/in/canopy?x=1", "/in/canopy"),
        ("https://hooks.example.org", "/"),
        ("https://hooks.example.org/%22'{x}$", "/webhook"),
        ("https://hooks.example.org/a%0Ab", "/a%0Ab"),
    ]:
        webhook = make_webhook(client, url=url)
        page = _get(owner, webhook)
        assert f'@app.post("{path}")' in page.text
        assert f'http.HandleFunc("{path}", receive)' in page.text
        assert webhook["secret"] not in page.text
