"""Single sign-on in a real browser, without scripts, at a real provider: there and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Instance, Visitor
from tests.browser.single_sign_on_scenes import (
    LINK,
    arrive,
    single_sign_on_scenes,
    sso_instance,
)
from tests.browser.test_appearance import DESKTOP, PHONE, faults_of
from tests.people.single_sign_on.real_provider import claims


@pytest.fixture(scope="module")
def instance(scratch: Path) -> Iterator[Instance]:
    with sso_instance(scratch / "sso") as made:
        yield made


@pytest.mark.slow
def test_signing_up_out_and_in(visitor: Visitor) -> None:
    person = claims()
    arrive(visitor, person)
    assert visitor.heading == "Finish signing up"
    visitor.fill(name="Ada Beech", account_name="Beech Hill")
    visitor.press("Create account")
    assert visitor.path == "/welcome"
    visitor.choose("You", "Sign out")
    assert visitor.path == "/login"
    arrive(visitor, person)
    assert visitor.path == "/welcome"
    assert person["email"] in visitor.go("/profile").locator("main").inner_text()


@pytest.mark.slow
def test_cancelling_leads_back(visitor: Visitor) -> None:
    visitor.go("/login")
    visitor.page.get_by_role("link", name=LINK).click()
    visitor.press("Cancel")
    assert visitor.heading == "You were not signed in"
    visitor.page.get_by_role("link", name="Back to sign-in").click()
    assert visitor.heading == "Sign in"


@pytest.mark.trial
@pytest.mark.parametrize(
    ("scheme", "viewport"),
    [("light", DESKTOP), ("dark", PHONE)],
    ids=["light desktop", "dark phone"],
)
def test_every_page_is_accessible(
    chrome: Browser, instance: Instance, scheme: str, viewport: dict[str, int]
) -> None:
    scenes = single_sign_on_scenes(chrome, instance, color_scheme=scheme, viewport=viewport)
    seen, faults = faults_of(scenes)
    assert len(seen) >= 12
    assert faults == []
