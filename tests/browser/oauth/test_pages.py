"""Forms that end in a redirect to an application, which may lead on, without scripts.

Browsers apply the policy of the page with the form to all of these redirects.
"""

from __future__ import annotations

import pytest

from tests.browser.conftest import Instance, Visitor
from tests.browser.oauth.chains import Chain, addresses_of, allow
from tests.browser.oauth.woods import Application, Woods


@pytest.mark.parametrize("button", ["Allow", "Deny"])
def test_the_consent_page_leads_on(
    visitor: Visitor,
    instance: Instance,
    woods: Woods,
    application: Application,
    chains: dict[str, Chain],
    subtests: pytest.Subtests,
    button: str,
) -> None:
    addresses = addresses_of(instance, application, chains, prompt="consent")
    woods.ask(visitor, addresses["one hop"])
    for name, chain in chains.items():
        with subtests.test(name):
            visitor.go(addresses[name])
            with chain.is_followed(visitor):
                visitor.press(button)


@pytest.mark.slow
def test_signing_in_leads_on_if_consent_is_remembered(
    visitor: Visitor,
    instance: Instance,
    woods: Woods,
    application: Application,
    chains: dict[str, Chain],
    subtests: pytest.Subtests,
) -> None:
    """At once, and after a mistyped password."""
    addresses = addresses_of(instance, application, chains)
    woods.ask(visitor, addresses["one hop"])
    allow(visitor, addresses, chains)
    for mistakes, (name, chain) in enumerate(chains.items()):
        with subtests.test(name):
            visitor.context.clear_cookies()
            visitor.move()
            visitor.go(addresses[name])
            if mistakes % 2:
                visitor.fill(email=woods.owner, password="not that one")
                visitor.press("Sign in")
                visitor.page.locator("[aria-invalid]").first.wait_for()
            with chain.is_followed(visitor):
                woods.enter(visitor)
