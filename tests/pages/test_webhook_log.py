"""The log on the page of a webhook: its filters, and its pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.pages.webhooks.webhook.filters import PER_PAGE
from app.values import clock
from tests.make import Browser, Client, make_log
from tests.make.browser import Page

EVENT = "evt_01arz3ndektsv4rrffq69g5fav"
SUCCESS: dict[str, Any] = {"status": "success", "error": None, "response_code": 204}


def _get(owner: Browser, webhook: dict[str, Any], query: str = "") -> Page:
    return owner.get(f"/webhooks/{webhook['id']}{query}")


def _shown(page: Page) -> list[str]:
    """The ids of the attempts in the log of a page."""
    ids = [link.rpartition("/")[2] for link in page.links if "/logs/" in link]
    return list(dict.fromkeys(ids))


def test_the_log_is_filtered(client: Client, owner: Browser, webhook: dict[str, Any]) -> None:
    now = clock.now()
    old = make_log(client, webhook["id"], EVENT, delivered_at=now - timedelta(hours=3))
    good = make_log(client, webhook["id"], EVENT, **SUCCESS, event_type="asset.created")
    new = make_log(client, webhook["id"], EVENT)
    hour_ago = f"{now - timedelta(hours=1):%Y-%m-%dT%H:%M}"
    for query, ids in {
        "": [new, good, old],
        "?status=failed": [new, old],
        "?event_type=asset.created": [good],
        "?status=failed&event_type=asset.created": [],
        f"?since={hour_ago}": [new, good],
        f"?until={hour_ago}": [old],
        f"?since={hour_ago}:00Z&until=&status=": [new, good],
    }.items():
        page = _get(owner, webhook, query)
        assert (page.status, _shown(page)) == (200, ids), query
    page = _get(owner, webhook, f"?until={hour_ago}")
    assert page.form(f"/webhooks/{webhook['id']}#log").fields["until"] == f"{hour_ago}:00"
    assert "With these filters" in page.text
    assert (
        "No attempt matches these filters." in _get(owner, webhook, "?event_type=invoice.paid").text
    )


def test_a_wrong_filter_is_told_and_left_out(
    client: Client, owner: Browser, webhook: dict[str, Any]
) -> None:
    log_id = make_log(client, webhook["id"], EVENT)
    for query, message in [
        ("status=pending", "“Result”: choose one from the list"),
        ("event_type=<b>", "“Event”: choose one from the list"),
        ("since=yesterday", "“From” is not a date with a time"),
        ("until=2026-99-99T00:00", "“To” is not a date with a time"),
        ("since=2026-01-02T00:00&until=2026-01-01T00:00", "“From” must be before “To”"),
    ]:
        page = _get(owner, webhook, f"?{query}")
        assert message in page.text
        assert _shown(page) == [log_id]


def test_pages_keep_the_filters(client: Client, owner: Browser, webhook: dict[str, Any]) -> None:
    made = [make_log(client, webhook["id"], EVENT) for _ in range(PER_PAGE + 1)]
    page = _get(owner, webhook, "?status=failed&days=7")
    assert _shown(page) == made[:0:-1]
    path = f"/webhooks/{webhook['id']}?status=failed&days=7"
    older = f"{path}&before={made[1]}#log"
    assert older in page.links
    page = owner.get(older)
    assert _shown(page) == made[:1]
    assert f"{path}#log" in page.links
    assert "There are no older attempts." in _get(owner, webhook, f"?before={made[0]}").text
    assert _shown(_get(owner, webhook, "?before=log_1")) == made[:0:-1]


def test_what_is_rare_is_looked_for_further_back(
    client: Client, owner: Browser, webhook: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.lists.logs.LOOKED_THROUGH", 4)
    made = [
        make_log(client, webhook["id"], EVENT, **(SUCCESS if number % 6 else {}))
        for number in range(12)
    ]
    failed, path = made[6::-6], "?status=failed"
    shown: list[list[str]] = []
    while path:
        page = _get(owner, webhook, path)
        shown.append(_shown(page))
        further = [link for link in page.links if "before=" in link]
        path = f"?{further[0].partition('?')[2]}" if further else ""
    assert [log_id for each in shown for log_id in each] == failed
    assert len(shown) > 2
    page = _get(owner, webhook, f"?event_type=invoice.paid&since={clock.now():%Y-%m-%dT%H:%M}")
    assert "Look further back" in page.text
