"""The time zone of a person, and how they have dates written."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime

import pytest

from app.values import clock
from tests.make import Browser, Client
from tests.make.browser import Page
from tests.pages.support import browser_of

NOON = datetime(2026, 7, 31, 12, 5, tzinfo=UTC)


@pytest.fixture
def browser(client: Client, monkeypatch: pytest.MonkeyPatch) -> Browser:
    owner = browser_of(client)
    monkeypatch.setattr(clock, "now", lambda: NOON)
    owner.get("/profile")
    return owner


def markup(page: Page) -> str:
    return html.unescape(page.response.get_data(as_text=True))


def choose(browser: Browser, zone: str, dates: str) -> Page:
    browser.get("/profile")
    return browser.submit("/profile/times", time_zone=zone, date_format=dates)


def test_times_are_utc_at_first(browser: Browser) -> None:
    page = browser.get("/profile")
    assert '<time datetime="2026-07-31T12:05:00.000Z">2026-07-31, 12:05 UTC</time>' in markup(page)
    assert "data-time-zone" not in markup(page)


def test_a_zone_and_a_form_are_complete(browser: Browser) -> None:
    page = choose(browser, "America/New_York", "us")
    assert "Times are shown this way now." in page.text
    assert (
        '<time datetime="2026-07-31T12:05:00.000Z" title="Friday, 07/31/2026, 8:05 AM '
        'America/New_York (UTC-04:00)">07/31/2026, 8:05 AM</time>' in markup(page)
    )
    selected = re.findall(r'<option value="([^"]*)" selected>', markup(page))
    assert selected == ["America/New_York", "us"]
    assert re.search(r'last used \d\d/\d\d/20\d\d, \d+:\d\d [AP]M">Sign out', markup(page))


def test_a_zone_alone_leaves_the_form_to_the_browser(browser: Browser) -> None:
    page = choose(browser, "Europe/Berlin", "")
    assert ' data-time-zone="Europe/Berlin"' in markup(page)
    assert "data-dates" not in markup(page)
    assert '<time datetime="2026-07-31T12:05:00.000Z">2026-07-31, 14:05</time>' in markup(page)


def test_a_form_alone_leaves_the_zone_to_the_browser(browser: Browser) -> None:
    page = choose(browser, "", "dots")
    assert 'data-dates="{day}.{month}.{year}, {hour}:{minute}"' in markup(page)
    assert '<time datetime="2026-07-31T12:05:00.000Z">31.07.2026, 12:05 UTC</time>' in markup(page)


def test_both_are_taken_back(browser: Browser) -> None:
    choose(browser, "Europe/Berlin", "dots")
    page = choose(browser, "", "")
    assert "12:05 UTC</time>" in markup(page)
    assert "data-time-zone" not in markup(page)
    assert "data-dates" not in markup(page)


def test_what_is_not_offered_is_refused(browser: Browser) -> None:
    for zone, dates in [
        ("Mars/Olympus", ""),
        ("", "roman"),
        ("EST", ""),
        ("Europe/Berlin\x00", ""),
    ]:
        page = choose(browser, zone, dates)
        assert page.status == 422
        assert "Not a valid choice" in page.text
        assert "12:05 UTC" in browser.get("/profile").text


def test_the_choice_is_that_of_one_person(client: Client, browser: Browser) -> None:
    choose(browser, "Europe/Berlin", "dots")
    assert "12:05 UTC" in browser_of(client, "viewer").get("/profile").text
