"""Sending past events again: first how many they are, then doing it."""

from __future__ import annotations

from typing import Any

import pytest

from app.policy.events import EVENTS, includes_event
from app.values.clock import format_time
from tests.make import Browser, Client, make_asset, make_project, make_replay, make_webhook
from tests.make.webhooks import replays, set_deliveries


@pytest.fixture
def webhook(client: Client) -> dict[str, Any]:
    """A webhook that was subscribed to two of three events, which failed."""
    made = make_webhook(client, events=["project.created"])
    project = make_project(client)
    make_project(client)
    make_asset(client, project["id"])
    set_deliveries(client, made["id"], "failed")
    return made


def _path(webhook: dict[str, Any]) -> str:
    return f"/webhooks/{webhook['id']}/replay"


def test_all_that_failed_is_counted_and_sent(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    page = owner.get(f"{_path(webhook)}?only_failed=true")
    assert "2 events will be sent" in page.text
    assert "What never arrived, from" in page.text
    assert replays(client) == []
    page = owner.submit(_path(webhook))
    assert page.path == f"/webhooks/{webhook['id']}"
    assert "2 events are on the way." in page.text
    assert "0 of 2 tried" in page.text
    (row,) = replays(client)
    assert (row["only_failed"], row["event_types"]) == (True, ["project.created"])


def test_a_period_and_types_are_chosen(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    page = owner.get(_path(webhook))
    assert "will be sent" not in page.text
    query = "since=2026-01-02T03:04&until=2099-01-02T03:04:05&which=chosen&only_failed=false"
    page = owner.get(f"{_path(webhook)}?{query}&event_types=asset.created&event_types=invoice.paid")
    assert "1 event will be sent" in page.text
    assert "asset.created, invoice.paid" in page.text
    fields = page.form(_path(webhook)).fields
    page = owner.send(_path(webhook), **fields | {"event_types": ["asset.created", "invoice.paid"]})
    assert page.status == 303
    (row,) = replays(client)
    assert row["event_types"] == ["asset.created", "invoice.paid"]
    assert format_time(row["since"]) == "2026-01-02T03:04:00.000Z"
    assert format_time(row["until"]) == "2099-01-02T03:04:05.000Z"


def test_the_audit_log_is_chosen_beside_all_events(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    query = "since=2026-01-02T03:04&which=all&event_types=audit.entry&only_failed=false"
    page = owner.get(f"{_path(webhook)}?{query}")
    assert "all events except audit.checkpoint" in page.text
    fields = page.form(_path(webhook)).fields
    owner.send(_path(webhook), **fields | {"event_types": ["*", "audit.entry"]})
    wanted = [name for name in EVENTS if includes_event(["*", "audit.entry"], name)]
    assert replays(client)[0]["event_types"] == wanted
    assert "audit.entry" in wanted


def test_what_is_wrong_stands_beside_its_field(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    for query, message in [
        ("since=", "Say from when."),
        ("since=yesterday&which=all", "Must be an RFC 3339 timestamp"),
        ("since=2026-01-02T03:04&until=2026-01-01T03:04&which=all", "Must not be before since."),
        ("since=2026-01-02T03:04&which=chosen", "Choose at least one type of event"),
        ("since=2026-01-02T03:04&event_types=project.painted", "Must be one of"),
    ]:
        page = owner.get(f"{_path(webhook)}?{query}")
        assert page.status == 422
        assert message in page.text
        assert replays(client) == []


def test_one_replay_at_a_time(client: Client, owner: Browser, webhook: dict[str, Any]) -> None:
    owner.get(f"{_path(webhook)}?only_failed=true")
    make_replay(client, webhook["id"], ended_at=None)
    page = owner.submit(_path(webhook))
    assert page.status == 409
    assert "A replay to this webhook is still running." in page.text


def test_nothing_is_sent_to_a_disabled_webhook(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    owner.get(f"{_path(webhook)}?only_failed=true")
    client.put(f"/v1/webhooks/{webhook['id']}", {"enabled": False})
    assert owner.submit(_path(webhook)).status == 409
    page = owner.get(f"{_path(webhook)}?only_failed=true")
    assert "Enable it first" in page.text
    assert len([form for form in page.forms if form.action == _path(webhook)]) == 1
