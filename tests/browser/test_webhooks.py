"""Webhooks in a browser: one is made, fails, is understood, and gets everything in the end."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Owner
from tests.outbound.receivers import Receiver, answering

pytestmark = pytest.mark.slow

SECONDS = 60_000  # milliseconds


def _sent(receiver: Receiver) -> list[str]:
    return [json.loads(request.body)["type"] for request in receiver.requests]


def test_a_failure_is_found_and_made_good(forester: Owner, receiver: Receiver) -> None:
    receiver.answer = answering(500)
    page = forester.go("/webhooks")
    page.get_by_role("link", name="Create a webhook").click()
    forester.fill(url=receiver.url(host="127.0.0.1"), description="The registry")
    forester.press("Create webhook")
    expect(page.locator("#secret")).to_contain_text("whsec_")
    forester.press("Send a test")
    health, results = page.locator("#health"), page.locator(".result")
    expect(results).to_have_count(1, timeout=SECONDS)
    expect(health).to_contain_text("Your receiver answered 500", timeout=SECONDS)
    forester.post("/v1/projects", name="Hazel dell")

    forester.go("/webhooks")
    expect(page.get_by_text("failing", exact=True)).to_be_visible()
    page.get_by_role("link", name="The registry").click()
    expect(results).to_have_count(2, timeout=SECONDS)
    page.get_by_role("link", name="See the last failure").click()
    expect(page.get_by_text("Look into your receiver's own log")).to_be_visible()
    expect(page.locator("pre").first).to_contain_text('"name": "Hazel dell"')
    expect(page.locator(".attempts")).to_contain_text("next try")

    receiver.answer = answering(204)
    forester.press("Redeliver…")
    forester.press("Redeliver")
    expect(health).to_contain_text("Working", timeout=SECONDS)
    expect(results.first).to_contain_text("204")
    assert _sent(receiver)[-1] == "project.created"
    expect(health).to_contain_text("1 delivery waits for the next try.")
    forester.press("Try all now…")
    forester.press("Try now")
    expect(page.get_by_role("status")).to_contain_text("1 delivery is tried now.")
    expect(results).to_have_count(4, timeout=SECONDS)
    expect(health).not_to_contain_text("next try", timeout=SECONDS)

    forester.press("More")
    page.get_by_role("link", name="Send events again…").click()
    forester.press("Count events")
    expect(page.locator("#count-title")).to_contain_text("will be sent")
    page.get_by_role("button", name="Send ").click()
    expect(health).to_contain_text("Events were sent again", timeout=SECONDS)
    page.get_by_label("Result").select_option("failed")
    forester.press("Show")
    expect(results).to_have_count(2)
    assert "status=failed" in forester.path


@pytest.mark.trial
def test_times_are_typed_in_the_zone_of_the_reader(chrome: Browser, instance: Instance) -> None:
    visitor = Owner(chrome, instance, timezone_id="Asia/Kolkata", locale="de-DE")
    page = visitor.go("/webhooks/new")
    visitor.fill(url="https://hooks.example.org/")
    visitor.press("Create webhook")
    page.get_by_role("link", name="Done").click()
    page.get_by_label("From", exact=True).fill("2026-01-31T02:15:00")
    visitor.press("Show")
    assert "since=2026-01-30T20%3A45%3A00Z" in page.url
    assert page.get_by_label("From", exact=True).input_value() == "2026-01-31T02:15"
    visitor.leave()
