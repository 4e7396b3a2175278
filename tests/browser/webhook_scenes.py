"""The pages of webhooks, in all their states."""

from __future__ import annotations

import re
from collections.abc import Iterator

from playwright.sync_api import expect

from tests.browser.conftest import Visitor, receiver_of
from tests.browser.forest_scenes import settle
from tests.outbound.receivers import answering

Scene = tuple[str, Visitor]
_HOSTILE = ('<b>Bold</b> & "quoted"', "مستقبل الأحداث", "Unbroken" * 25)
_SECONDS = 60_000  # milliseconds


def webhooks(visitor: Visitor) -> Iterator[Scene]:
    """Yield each scene's name, and the visitor, who has an account without webhooks."""
    visitor.move()
    visitor.go("/webhooks")
    yield "webhooks, none", visitor
    page = visitor.go("/webhooks/new")
    page.get_by_label("Only these:").check()
    visitor.fill(url="http://example.org")
    visitor.press("Create webhook")
    page.locator("[aria-invalid]").first.wait_for()
    yield "new webhook with errors", visitor
    for name in _HOSTILE:
        visitor.move()
        visitor.go("/webhooks/new")
        visitor.fill(url=f"https://hooks.example.org/{'x' * 300}", description=name)
        visitor.press("Create webhook")
        page.get_by_text("Webhook created").wait_for()
    yield "webhook created", visitor
    with receiver_of(visitor.instance) as receiver:
        receiver.answer = answering(503)
        yield from _failing(visitor, receiver.url(host="127.0.0.1"))
    visitor.go("/webhooks")
    yield "webhooks", visitor


def _failing(visitor: Visitor, url: str) -> Iterator[Scene]:
    page = visitor.page
    visitor.move()
    visitor.go("/webhooks/new")
    visitor.fill(url=url)
    visitor.press("Create webhook")
    page.get_by_role("link", name="Done").click()
    settle(visitor)
    path = visitor.path
    visitor.press("Send a test")
    expect(page.locator(".result")).to_have_count(1, timeout=_SECONDS)
    expect(page.locator("#health")).to_contain_text("503", timeout=_SECONDS)
    settle(visitor)
    yield "webhook, failing", visitor
    visitor.press("More")
    page.get_by_role("button", name="Rotate the secret…").click()
    yield "webhook, secret to be rotated", visitor
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    page.locator(".result").first.click()
    page.get_by_role("heading", name="Request").wait_for()
    settle(visitor)
    yield "attempt", visitor
    visitor.go(f"{path}/replay?since=2026-01-02T03:04&which=all&only_failed=false")
    yield "sending again, counted", visitor
    page.get_by_role("button", name=re.compile("Send .* event")).click()
    page.locator("#health progress, #health .quiet").first.wait_for()
    settle(visitor)
    yield "webhook, sending again", visitor
    visitor.go(f"{path}?status=success&since=yesterday")
    yield "webhook, wrong filter", visitor
    visitor.press("More")
    page.get_by_role("button", name="Disable…").click()
    page.get_by_role("dialog").get_by_role("button", name="Disable").click()
    page.get_by_text("Disabled by hand").first.wait_for()
    settle(visitor)
    yield "webhook, disabled", visitor
