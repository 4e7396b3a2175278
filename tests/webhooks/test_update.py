"""Changing, disabling and deleting webhooks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.values import clock
from app.webhooks.deliveries import cancellation
from tests.make import Client, deliveries, make_project, make_webhook, together
from tests.make.webhooks import set_webhook, webhook_row

PATH = "/v1/webhooks"
LATER = clock.now() + timedelta(days=1)


@pytest.fixture
def webhook(client: Client) -> dict[str, Any]:
    """A webhook that fails."""
    made = make_webhook(client, events=["project.created"], description="old")
    failing = {"consecutive_failures": 7, "failing_since": clock.now(), "warned_at": clock.now()}
    set_webhook(client, made["id"], **failing)
    return client.get(f"{PATH}/{made['id']}").json["data"]


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The wake signals that are sent."""
    found: list[str] = []
    monkeypatch.setattr(
        cancellation, "notify_after_commit", lambda signal: found.append(signal.name)
    )
    return found


def _put(client: Client, webhook: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer = client.put(f"{PATH}/{webhook['id']}", json=fields)
    assert answer.status_code == 200, answer.json
    return answer.json["data"]


@pytest.mark.both
def test_a_change(
    client: Client, webhook: dict[str, Any], signals: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "now", lambda: LATER)
    for fields in ({}, {"description": "old"}, {"enabled": True}, {"status": "healthy"}):
        assert _put(client, webhook, **fields) == webhook, "nothing was changed"
    expected = webhook | {"updated_at": clock.format_time(LATER)}
    for fields in ({"events": ["asset.created", "*"]}, {"description": None}):
        expected |= fields
        assert _put(client, webhook, **fields) == expected
        assert client.get(f"{PATH}/{webhook['id']}").json["data"] == expected
    assert signals == []


def test_a_new_url_begins_without_failures(client: Client, webhook: dict[str, Any]) -> None:
    changed = _put(client, webhook, url="https://elsewhere.example.org/")
    assert (changed["status"], changed["consecutive_failures"]) == ("healthy", 0)
    row = webhook_row(client, webhook["id"])
    assert (row["failing_since"], row["warned_at"]) == (None, None)
    assert row["canceled_at"] is None


def test_disabling(client: Client, webhook: dict[str, Any], signals: list[str]) -> None:
    changed = _put(client, webhook, enabled=False)
    assert (changed["enabled"], changed["status"]) == (False, "disabled")
    assert changed["disabled_reason"] == "manual"
    assert changed["consecutive_failures"] == 7
    assert webhook_row(client, webhook["id"])["canceled_at"] is not None
    assert signals == ["deliveries"]


@pytest.mark.both
def test_enabling_again(client: Client, webhook: dict[str, Any], signals: list[str]) -> None:
    canceled_at = clock.now()
    state = {"enabled": False, "disabled_reason": "gone", "canceled_at": canceled_at}
    set_webhook(client, webhook["id"], **state)
    assert _put(client, webhook, enabled=False)["disabled_reason"] == "gone"
    changed = _put(client, webhook, enabled=True)
    assert (changed["status"], changed["disabled_reason"]) == ("healthy", None)
    assert changed["consecutive_failures"] == 0
    row = webhook_row(client, webhook["id"])
    assert (row["failing_since"], row["warned_at"]) == (None, None)
    assert row["canceled_at"] == canceled_at
    assert signals == []


def test_fields_that_are_refused(client: Client, webhook: dict[str, Any]) -> None:
    for field, value, named in [
        ("url", "http://hooks.example.org/", "url"),
        ("events", ["webhook.test"], "events.0"),
    ]:
        answer = client.put(f"{PATH}/{webhook['id']}", json={field: value})
        assert answer.status_code == 422
        assert [item["field"] for item in answer.json["error"]["details"]] == [named]
    assert client.get(f"{PATH}/{webhook['id']}").json["data"] == webhook


def test_a_deleted_webhook_is_not_found_anywhere(
    client: Client, webhook: dict[str, Any], signals: list[str]
) -> None:
    path = f"{PATH}/{webhook['id']}"
    make_project(client)
    assert client.delete(path).status_code == 204
    assert signals == ["deliveries"]
    for method, ending in (
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("GET", "/logs"),
        ("POST", "/test"),
        ("POST", "/rotate-secret"),
        ("POST", "/replay"),
    ):
        assert client.send(method, path + ending).status_code == 404
    assert client.get(PATH).json["data"] == []
    make_project(client)
    assert len(deliveries(client)) == 1
    row = webhook_row(client, webhook["id"])
    assert (row["enabled"], row["canceled_at"] is None) == (False, False)


def test_one_of_many_concurrent_deletions_succeeds(client: Client, webhook: dict[str, Any]) -> None:
    path = f"{PATH}/{webhook['id']}"
    statuses = together(*[lambda: client.delete(path).status_code] * 4)
    assert sorted(statuses) == [204, 404, 404, 404]


def test_events_and_changes_of_webhooks_do_not_block_each_other(client: Client) -> None:
    """Nothing waits in a circle: no request is answered 503."""
    ids = [make_webhook(client)["id"] for _ in range(3)]
    calls: list[Any] = []
    for number, webhook_id in enumerate(ids * 2):
        path = f"{PATH}/{webhook_id}"
        enabled = number % 2 == 0
        calls += [
            lambda: client.post("/v1/projects", json={}).status_code,
            lambda: make_project(client)["status"],
            lambda path=path, on=enabled: client.put(path, json={"enabled": on}).status_code,
            lambda path=path: client.post(f"{path}/test").status_code,
            lambda path=path: client.post(f"{path}/rotate-secret").status_code,
        ]
    assert set(together(*calls)) == {422, "active", 200}
