"""Single sign-on in a real browser, without scripts, at a real provider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Instance, Visitor, new_address, sign_up
from tests.browser.single_sign_on_scenes import (
    LINK,
    arrive,
    sign_in_there,
    single_sign_on_scenes,
    sso_instance,
)
from tests.browser.test_appearance import DESKTOP, PHONE, faults_of
from tests.make.browser import PASSWORD
from tests.people.single_sign_on.real_provider import claims


@pytest.fixture(scope="module")
def instance(scratch: Path) -> Iterator[Instance]:
    with sso_instance(scratch / "sso") as made:
        yield made


@pytest.fixture(scope="module")
def without_passwords(scratch: Path) -> Iterator[Instance]:
    with sso_instance(scratch / "no-passwords", PASSWORD_SIGN_IN="false") as made:
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


@pytest.mark.trial
def test_the_requested_page_comes_next(visitor: Visitor) -> None:
    visitor.go("/accounts")
    visitor.page.get_by_role("link", name=LINK).click()
    sign_in_there(visitor, claims())
    visitor.fill(account_name="Oak Hill")
    visitor.press("Create account")
    assert visitor.path == "/accounts"


@pytest.mark.slow
def test_an_unverified_address_is_refused(visitor: Visitor) -> None:
    arrive(visitor, claims(email_verified=False))
    assert visitor.heading == "Your email address is not verified"
    visitor.go("/profile")
    assert visitor.heading == "Sign in"


@pytest.mark.trial
def test_a_foreign_domain_is_refused(visitor: Visitor) -> None:
    arrive(visitor, claims(email="ada@elsewhere.example"))
    assert visitor.heading == "This address cannot sign in here"
    assert "ada@elsewhere.example" in visitor.page.locator("main").inner_text()


@pytest.mark.slow
def test_cancelling_leads_back(visitor: Visitor) -> None:
    visitor.go("/login")
    visitor.page.get_by_role("link", name=LINK).click()
    visitor.press("Cancel")
    assert visitor.heading == "You were not signed in"
    visitor.page.get_by_role("link", name="Back to sign-in").click()
    assert visitor.heading == "Sign in"


@pytest.mark.slow
def test_linking_with_consent_and_unlinking(visitor: Visitor, instance: Instance) -> None:
    email = new_address(instance)
    sign_up(visitor, email)
    person = claims(email=email)
    arrive(visitor, person)
    assert visitor.heading == "Link your sign-in"
    visitor.fill(password=PASSWORD)
    visitor.press("Link and sign in")
    assert visitor.path == "/welcome"
    assert "Green Woods" in str(instance.mail_to(email, 2)["Subject"])
    visitor.go("/profile")
    visitor.page.get_by_role("button", name=f"Unlink {email}").click()
    assert "Unlinked" in visitor.page.locator("main").inner_text()
    visitor.page.get_by_role("link", name="Link your sign-in").click()
    assert visitor.heading == "Link your sign-in"


@pytest.mark.trial
def test_without_passwords(chrome: Browser, without_passwords: Instance) -> None:
    visitor = Visitor(chrome, without_passwords, java_script_enabled=False)
    visitor.go("/login")
    assert visitor.page.locator("main form").count() == 0
    visitor.go("/register")
    assert visitor.page.locator("main form").count() == 0
    for path in ("/forgot-password", "/reset-password/x", "/register/confirm/x"):
        visitor.go(path)
        assert visitor.heading == "There are no passwords here"
    person = claims()
    arrive(visitor, person)
    visitor.fill(account_name="Fir Hill")
    visitor.press("Create account")
    main = visitor.go("/profile").locator("main")
    assert "Password" not in main.inner_text()
    assert main.get_by_role("button", name="Unlink").count() == 0
    visitor.leave()


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
