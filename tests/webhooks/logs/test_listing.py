"""The log of a webhook, as a list."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.values import clock
from tests.make import Client, make_log, make_project, make_webhook
from tests.outbound.receivers import Receiver, answering
from tests.webhooks.conftest import Deliver

EVENT = "evt_01arz3ndektsv4rrffq69g5fav"
MOMENT = clock.parse_time("2026-01-02T03:04:05.678Z")


@pytest.fixture
def webhook(client: Client) -> dict[str, Any]:
    return make_webhook(client)


def _list(client: Client, webhook: dict[str, Any], query: str = "") -> Any:
    return client.get(f"/v1/webhooks/{webhook['id']}/logs{query}")


def _ids(answer: Any) -> list[str]:
    assert answer.status_code == 200
    return [entry["id"] for entry in answer.json["data"]]


def test_a_failed_attempt(client: Client, webhook: dict[str, Any]) -> None:
    log_id = make_log(
        client,
        webhook["id"],
        EVENT,
        delivery_id="dlv_01arz3ndektsv4rrffq69g5fav",
        attempt=2,
        delivered_at=MOMENT,
        next_retry_at=MOMENT + timedelta(seconds=300),
    )
    assert _list(client, webhook).json["data"] == [
        {
            "id": log_id,
            "event_id": EVENT,
            "event_type": "project.created",
            "status": "failed",
            "response_code": 503,
            "error": "answered 503",
            "delivered_at": "2026-01-02T03:04:05.678Z",
            "next_retry_at": "2026-01-02T03:09:05.678Z",
            "attempt": 2,
            "cause": "event",
            "delivery_id": "dlv_01arz3ndektsv4rrffq69g5fav",
        }
    ]


def test_a_success(client: Client, webhook: dict[str, Any]) -> None:
    columns = {"status": "success", "error": None, "response_code": 204, "response_time_ms": 0}
    make_log(client, webhook["id"], EVENT, **columns, cause="test")
    (entry,) = _list(client, webhook).json["data"]
    assert entry.keys().isdisjoint({"error", "next_retry_at"})
    assert (entry["response_time_ms"], entry["response_code"]) == (0, 204)
    assert entry["cause"] == "test"


def test_an_attempt_without_a_response(client: Client, webhook: dict[str, Any]) -> None:
    make_log(client, webhook["id"], EVENT, response_code=None, error="timed out connecting")
    (entry,) = _list(client, webhook).json["data"]
    assert entry.keys().isdisjoint({"response_code", "response_time_ms", "next_retry_at"})
    assert entry["error"] == "timed out connecting"


@pytest.mark.both
def test_the_newest_come_first_and_pages_do_not_overlap(
    client: Client, webhook: dict[str, Any]
) -> None:
    other = make_webhook(client)
    made = [make_log(client, webhook["id"], EVENT) for _ in range(7)]
    make_log(client, other["id"], EVENT)
    found = [_ids(_list(client, webhook, f"?per_page=2&page={page}")) for page in range(1, 6)]
    newest = made[::-1]
    assert found == [newest[:2], newest[2:4], newest[4:6], newest[6:], []]
    answer = _list(client, webhook, "?per_page=2&page=2")
    assert answer.json["meta"] == {"total": 7, "page": 2, "per_page": 2, "total_pages": 4}
    assert 'rel="next"' in answer.headers["Link"]


@pytest.mark.both
def test_filters(client: Client, webhook: dict[str, Any]) -> None:
    ids = {
        (status, kind): make_log(client, webhook["id"], EVENT, status=status, event_type=kind)
        for status in ("success", "failed")
        for kind in ("asset.created", "webhook.test")
    }
    newest = list(ids.values())[::-1]
    assert _ids(_list(client, webhook)) == newest
    assert _ids(_list(client, webhook, "?status=failed")) == newest[:2]
    assert _ids(_list(client, webhook, "?event_type=webhook.test")) == newest[::2]
    both = _list(client, webhook, "?status=success&event_type=asset.created")
    assert _ids(both) == [ids["success", "asset.created"]]
    assert both.json["meta"]["total"] == 1
    assert _ids(_list(client, webhook, "?event_type=member.joined")) == []


@pytest.mark.both
def test_both_ends_of_the_time_are_included(client: Client, webhook: dict[str, Any]) -> None:
    now = clock.now()
    ended = [now - timedelta(minutes=minutes) for minutes in (50, 40, 30)]
    first, second, third = (
        make_log(client, webhook["id"], EVENT, delivered_at=moment, status=status)
        for moment, status in zip(ended, ("failed", "success", "failed"), strict=True)
    )
    texts = [clock.format_time(moment) for moment in ended]
    assert _ids(_list(client, webhook, f"?since={texts[1]}")) == [third, second]
    assert _ids(_list(client, webhook, f"?until={texts[1]}")) == [second, first]
    assert _ids(_list(client, webhook, f"?since={texts[1]}&until={texts[1]}")) == [second]
    assert _ids(_list(client, webhook, f"?since={texts[0]}&status=failed")) == [third, first]
    a_millisecond = timedelta(milliseconds=1)
    after, before = (
        clock.format_time(moment) for moment in (ended[0] + a_millisecond, ended[2] - a_millisecond)
    )
    found = _list(client, webhook, f"?since={after}&until={before}")
    assert _ids(found) == [second]
    assert found.json["meta"]["total"] == 1
    in_another_zone = clock.format_time(ended[2] + timedelta(hours=2)).replace("Z", "%2B02:00")
    assert _ids(_list(client, webhook, f"?since={in_another_zone}")) == [third]
    assert _ids(_list(client, webhook, "?since=0001-01-01T00:00:00Z")) == [third, second, first]
    assert _ids(_list(client, webhook, "?until=9999-12-31T23:59:59Z")) == [third, second, first]
    assert _ids(_list(client, webhook, "?since=9999-12-31T23:59:59Z")) == []
    assert _ids(_list(client, webhook, f"?since={texts[2]}&until={texts[0]}")) == []


def test_parameters_that_are_rejected(client: Client, webhook: dict[str, Any]) -> None:
    for query, field in [
        ("page=0", "page"),
        ("status=pending", "status"),
        ("status=", "status"),
        ("event_type=*", "event_type"),
        ("type=project.created", "type"),
        ("since=yesterday", "since"),
        ("until=2026-01-02", "until"),
    ]:
        answer = _list(client, webhook, f"?{query}")
        assert answer.status_code == 400
        assert [item["field"] for item in answer.json["error"]["details"]] == [field]


def test_the_log_of_another_account_is_not_found(
    client: Client, stranger: Client, webhook: dict[str, Any]
) -> None:
    make_log(client, webhook["id"], EVENT)
    assert _list(stranger, webhook).status_code == 404


def test_attempts_do_not_move_updated_at(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    receiver.answer = answering(500)
    webhook = make_webhook(customer, url=receiver.url())
    make_project(customer)
    deliver()
    (entry,) = _list(customer, webhook).json["data"]
    found = customer.get(f"/v1/webhooks/{webhook['id']}").json["data"]
    assert found["updated_at"] == webhook["updated_at"] < entry["delivered_at"]
