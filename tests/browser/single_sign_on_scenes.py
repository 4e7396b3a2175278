"""The pages of single sign-on, of an instance whose people sign in at a real provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from app.people.single_sign_on.provider import CALLBACK
from tests.browser.conftest import Instance, Visitor, running_instance, sign_up
from tests.make import new_email
from tests.people.single_sign_on.real_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    claims,
    real_provider,
)
from tests.ports import free_port

LINK = "Sign in with Green Woods"


@contextmanager
def sso_instance(scratch: Path, **settings: str) -> Iterator[Instance]:
    """An instance with a provider of its own, at which addresses at woods.example may sign in."""
    scratch.mkdir(exist_ok=True)
    port = free_port()
    callback = f"http://127.0.0.1:{port}{CALLBACK}"
    with (
        real_provider(scratch / "oidc", callback) as woods,
        running_instance(
            scratch,
            port,
            OIDC_ISSUER=woods.issuer,
            OIDC_CLIENT_ID=CLIENT_ID,
            OIDC_CLIENT_SECRET=CLIENT_SECRET,
            OIDC_NAME="Green Woods",
            OIDC_DOMAINS="woods.example, example.org",
            **settings,
        ) as made,
    ):
        yield made


def sign_in_there(visitor: Visitor, person: dict[str, Any]) -> None:
    """Sign in at the provider, whose page a visitor sees."""
    visitor.page.get_by_label("Who are you?").fill(json.dumps(person))
    visitor.press("Continue")


def leave_for_provider(visitor: Visitor, path: str = "/login") -> None:
    """Go to the provider, from the sign-in page on."""
    visitor.context.clear_cookies()  # also at the provider
    visitor.move()
    visitor.go(path)
    visitor.page.get_by_role("link", name=LINK).click()


def arrive(visitor: Visitor, person: dict[str, Any], path: str = "/login") -> None:
    """Sign in at the provider, from the sign-in page on."""
    leave_for_provider(visitor, path)
    sign_in_there(visitor, person)
    visitor.page.wait_for_url(f"{visitor.instance.url}/**")


def single_sign_on_scenes(
    chrome: Browser, instance: Instance, **options: Any
) -> Iterator[tuple[str, Visitor]]:
    """Yield each scene's name, and the visitor who sees it."""
    visitor = Visitor(chrome, instance, **options)
    try:
        visitor.go("/login")
        yield "sign in with a provider", visitor
        visitor.go("/register")
        yield "sign up with a provider", visitor
        yield from _refusals(visitor)
        person = claims()
        arrive(visitor, person)
        yield "new person", visitor
        visitor.fill(name="")
        visitor.press("Create account")
        visitor.page.locator("[aria-invalid]").first.wait_for()
        yield "new person with errors", visitor
        visitor.fill(name="Ada Birch", account_name="Birch Hill")
        visitor.press("Create account")
        visitor.go("/profile")
        yield "profile without a password", visitor
        yield from _linking(visitor, person)
    finally:
        visitor.leave()


def _refusals(visitor: Visitor) -> Iterator[tuple[str, Visitor]]:
    arrive(visitor, claims(email_verified=False))
    yield "unverified address", visitor
    arrive(visitor, claims(email_verified="yes"))
    yield "flag that is unclear", visitor
    visitor.go("/login/single-sign-on/callback")
    yield "return that was used", visitor


def _linking(visitor: Visitor, person: dict[str, Any]) -> Iterator[tuple[str, Visitor]]:
    email = new_email()
    visitor.context.clear_cookies()
    sign_up(visitor, email)
    arrive(visitor, claims(email=email))
    yield "link with a password", visitor
    arrive(visitor, claims(email=person["email"]))
    yield "link by mail", visitor
    visitor.press("Email me a link")
    yield "mail of link", visitor
    visitor.go(visitor.instance.link_to(person["email"], 1))
    yield "mailed link", visitor
