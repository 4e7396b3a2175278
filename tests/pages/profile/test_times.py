"""The locale of a person, their unit of areas and their time zone."""

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


def choose(browser: Browser, zone: str, locale: str, area_unit: str = "") -> Page:
    browser.get("/profile")
    chosen = {"time_zone": zone, "locale": locale, "area_unit": area_unit}
    return browser.submit("/profile/times", **chosen)


def test_times_are_utc_at_first(browser: Browser) -> None:
    page = browser.get("/profile")
    assert '<time datetime="2026-07-31T12:05:00.000Z">07/31/2026, 12:05 PM UTC</time>' in markup(
        page
    )
    assert "data-time-zone" not in markup(page)


def test_a_zone_and_a_locale_are_complete(browser: Browser) -> None:
    page = choose(browser, "America/New_York", "de-DE", "acres")
    assert "Numbers and dates are shown this way now." in page.text
    assert (
        '<time datetime="2026-07-31T12:05:00.000Z" title="Friday, 31.07.2026, 08:05 '
        'America/New_York (UTC-04:00)">31.07.2026, 08:05</time>' in markup(page)
    )
    selected = re.findall(r'<option value="([^"]*)" selected>', markup(page))
    assert selected == ["de-DE", "acres", "America/New_York"]
    assert "Deutsch (Deutschland): 1.234,56 · 31.01.2026, 14:05" in page.text
    assert re.search(r'last used \d\d\.\d\d\.20\d\d, \d\d:\d\d">Sign out', markup(page))


def test_without_a_locale_the_first_language_of_the_browser_is_taken(browser: Browser) -> None:
    choose(browser, "Europe/Berlin", "")
    for languages, shown, locale in (
        ("fr-FR,fr;q=0.9,en;q=0.8", "31/07/2026 14:05", "fr-FR"),
        ("en;q=0.5, sv;q=0.9", "2026-07-31 14:05", "sv"),
        ("tlh", "07/31/2026, 2:05 PM", "en"),
    ):
        page = browser.get("/profile", headers={"Accept-Language": languages})
        assert f">{shown}</time>" in markup(page), languages
        assert f' data-locale="{locale}"' in markup(page), languages
        assert f"Browser default ({locale}): " in page.text


def test_a_locale_alone_leaves_the_zone_to_the_browser(browser: Browser) -> None:
    page = choose(browser, "", "de-DE")
    assert '"moments":"{day}.{month}.{year}, {hour}:{minute}"' in markup(page)
    assert '<time datetime="2026-07-31T12:05:00.000Z">31.07.2026, 12:05 UTC</time>' in markup(page)


def test_all_is_taken_back(browser: Browser) -> None:
    choose(browser, "Europe/Berlin", "de-DE", "acres")
    page = choose(browser, "", "")
    assert "12:05 PM UTC</time>" in markup(page)
    assert "data-time-zone" not in markup(page)
    assert '"area_unit":"hectares"' in markup(page)


def test_what_is_not_offered_is_refused(browser: Browser) -> None:
    for zone, locale, area_unit in [
        ("Mars/Olympus", "", ""),
        ("", "roman", ""),
        ("", "", "morgen"),
        ("EST", "", ""),
        ("Europe/Berlin\x00", "", ""),
    ]:
        page = choose(browser, zone, locale, area_unit)
        assert page.status == 422
        assert "Not a valid choice" in page.text
        assert "12:05 PM UTC" in browser.get("/profile").text


def test_the_choice_is_that_of_one_person(client: Client, browser: Browser) -> None:
    choose(browser, "Europe/Berlin", "de-DE")
    assert "12:05 PM UTC" in browser_of(client, "viewer").get("/profile").text
