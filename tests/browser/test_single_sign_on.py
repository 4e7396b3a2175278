"""Single sign-on in a real browser, without scripts, at a real provider: there and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import DESKTOP, PHONE, Instance, Visitor
from tests.browser.oauth.chains import PRIVATE, addresses_of, allow, redirect_chains
from tests.browser.oauth.woods import BACK, make_woods
from tests.browser.single_sign_on_scenes import (
    LINK,
    arrive,
    leave_for_provider,
    sign_in_there,
    single_sign_on_scenes,
    sso_instance,
)
from tests.browser.test_appearance import faults_of
from tests.people.single_sign_on.real_provider import claims


@pytest.fixture(scope="module")
def instance(scratch: Path) -> Iterator[Instance]:
    with sso_instance(scratch / "sso") as made:
        yield made


@pytest.mark.slow
def test_signing_up_out_and_in(visitor: Visitor) -> None:
    visitor.go("/login")
    visitor.page.get_by_role("link", name=LINK).click()
    visitor.press("Cancel")
    assert visitor.heading == "You were not signed in"
    visitor.page.get_by_role("link", name="Back to sign-in").click()
    assert visitor.heading == "Sign in"
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
def test_it_leads_on_to_an_application_if_consent_is_remembered(
    visitor: Visitor, instance: Instance, subtests: pytest.Subtests
) -> None:
    """Right after linking, and later."""
    with redirect_chains() as chains:
        woods = make_woods(instance)
        application = woods.register("Map", "projects:read", uris=(BACK, PRIVATE))
        addresses = addresses_of(instance, application, chains)
        woods.ask(visitor, addresses["three hops"])
        allow(visitor, addresses, chains)
        for name, chain in chains.items():
            with subtests.test(name):
                person = claims(email=woods.owner)
                arrive(visitor, person, addresses[name])
                visitor.fill(password=woods.password)
                with chain.is_followed(visitor):
                    visitor.press("Link and sign in")
        with subtests.test("later"):
            leave_for_provider(visitor, addresses["three hops"])
            with chains["three hops"].is_followed(visitor):
                sign_in_there(visitor, person)


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
    assert len(seen) >= 9
    assert faults == []
