"""The pages of forests and of a person: empty, filled in, with errors, within a flow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser

from tests.browser.conftest import Instance, Visitor
from tests.browser.forest_scenes import forests, settle
from tests.make.browser import PASSWORD

_numbers = itertools.count(1)


def scenes(chrome: Browser, instance: Instance, **options: Any) -> Iterator[tuple[str, Visitor]]:
    """Yield each scene's name, and the visitor who sees it."""
    number = next(_numbers)
    email, other_email = (f"{who}-{number}-{id(chrome)}@example.org" for who in ("jo", "kim"))
    visitor = Visitor(chrome, instance, **options)
    try:
        yield from _before_signing_in(visitor, email)
        yield from forests(visitor)
        yield from _own_pages(visitor, f"Hazel Woods {number}")
        slug = visitor.go("/accounts").locator("main li code").first.inner_text()
        other = Visitor(chrome, instance, **options)
        try:
            yield from _invitation(visitor, other, slug, other_email)
        finally:
            other.leave()
        yield from _application(visitor, slug)
        yield from _errors(visitor)
        yield from _back_again(visitor, email)
    finally:
        visitor.leave()


def _before_signing_in(visitor: Visitor, email: str) -> Iterator[tuple[str, Visitor]]:
    visitor.go("/")
    yield "stranger", visitor
    visitor.go("/register")
    yield "sign up", visitor
    visitor.fill(email="nobody", password="password123", account_slug="Hazel Woods")
    visitor.press("Sign up")
    visitor.page.locator("[aria-invalid]").first.wait_for()
    yield "sign up with errors", visitor
    visitor.fill(name="Jo Hazel", email=email, password=PASSWORD, account_name="Hazel Woods")
    visitor.fill(account_slug="")
    visitor.press("Sign up")
    yield "mail of sign up", visitor
    link = visitor.instance.link_to(email)
    visitor.go(link)
    yield "finish sign up", visitor
    visitor.fill(password=PASSWORD)
    visitor.press("Create account")
    yield "first steps", visitor
    visitor.go(link)
    yield "dead link of sign up", visitor
    visitor.move()


def _own_pages(visitor: Visitor, name: str) -> Iterator[tuple[str, Visitor]]:
    visitor.go("/accounts")
    visitor.page.get_by_text("Create another account").click()
    visitor.press("Create account")
    yield "accounts with error", visitor
    visitor.fill(account_name=name)
    visitor.press("Create account")
    yield "accounts, two", visitor
    visitor.go("/profile")
    yield "profile", visitor
    visitor.fill(password="not that one", new_password="short")
    visitor.press("Change password")
    yield "profile with errors", visitor
    visitor.go("/applications")
    yield "applications, none", visitor


def _invitation(
    visitor: Visitor, other: Visitor, slug: str, email: str
) -> Iterator[tuple[str, Visitor]]:
    instance = visitor.instance
    key = instance.canopy(
        "key", "create", "--account", slug, "--name", "test", "--permission", "admin"
    )["key"]
    visitor.context.request.post(
        f"{instance.url}/v1/account/members/invite",
        headers={"Authorization": f"Bearer {key}"},
        data={"email": email, "role": "viewer"},
    )
    link = instance.link_to(email)
    visitor.go(link)
    yield "invitation of somebody else", visitor
    other.go(link)
    yield "invitation of somebody new", other
    other.fill(name="", password="short")
    other.press("Join")
    yield "invitation with errors", other
    other.fill(name="Kim Alder", password=PASSWORD)
    other.press("Join")
    settle(other)
    yield "projects of a viewer", other
    other.page.locator(".project-list a").first.click()
    other.page.wait_for_url("**/projects/proj_*")
    settle(other)
    yield "project of a viewer", other
    other.go("/members")
    yield "members of a viewer", other


def _application(visitor: Visitor, slug: str) -> Iterator[tuple[str, Visitor]]:
    back = f"{visitor.instance.url}/docs"  # any page that there is
    record = visitor.instance.canopy(
        "oauth-app", "create", "--account", slug, "--name", "Map of Woods", "--redirect-uri",
        back, "--scope", "profile", "--scope", "projects:read", "--scope", "offline_access",
    )  # fmt: skip
    parameters = {
        "client_id": record["client_id"],
        "redirect_uri": back,
        "response_type": "code",
        "scope": "profile projects:read offline_access",
        "state": "xyz",
    }
    visitor.go(f"/oauth/authorize?{urlencode(parameters | {'prompt': 'none'})}")
    yield "a request that is refused", visitor
    visitor.go(f"/oauth/authorize?{urlencode(parameters)}")
    yield "consent, two accounts", visitor
    visitor.press("Allow")
    visitor.page.wait_for_url(f"{back}?**")
    visitor.go("/applications")
    yield "applications, one", visitor


def _errors(visitor: Visitor) -> Iterator[tuple[str, Visitor]]:
    visitor.go("/nothing")
    yield "not found", visitor
    visitor.go("/docs")
    yield "reference", visitor


def _back_again(visitor: Visitor, email: str) -> Iterator[tuple[str, Visitor]]:
    visitor.go("/profile")
    visitor.move()
    visitor.choose("You", "Sign out")
    yield "sign in", visitor
    visitor.fill(email=email, password="not that one")
    visitor.press("Sign in")
    yield "sign in with error", visitor
    visitor.go("/forgot-password")
    yield "forgot password", visitor
    visitor.fill(email=email)
    visitor.press("Email me a link")
    yield "mail of reset", visitor
    visitor.go(visitor.instance.link_to(email, 2))
    yield "new password", visitor
