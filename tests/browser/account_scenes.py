"""The pages of an account and of a person, in all their states."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser

from tests.browser.conftest import Instance, Owner, Visitor, sign_up
from tests.make import new_email
from tests.make.browser import PASSWORD

Scene = tuple[str, Visitor]
_numbers = itertools.count(1)
_addresses = itertools.count(1)
_ROLES = ("viewer", "editor", "admin")
_HOSTILE = (
    '<b>Bold</b> & "quoted"',
    "\u202e" + "\u05d0" * 90,
    "Unbroken" * 25,
    "Many words in a name " * 9,
    "中村 茂",
)


def account_scenes(chrome: Browser, instance: Instance, **options: Any) -> Iterator[Scene]:
    """Yield each scene's name, and the visitor who sees it."""
    visitor = Visitor(chrome, instance, **options)
    email = new_email()
    sign_up(visitor, email)
    slug = visitor.go("/accounts").locator("main li code").first.inner_text()
    instance.canopy("account", "update", slug, "--plan", "enterprise")
    add_members(visitor, chrome, slug, [*_HOSTILE, *(f"Forester {n}" for n in range(1, 6))])
    yield from _members(visitor)
    yield from _settings(visitor)
    yield from _deletion(visitor)
    visitor.go("/profile")
    visitor.page.get_by_label("Time zone").select_option("Europe/Berlin")
    visitor.page.locator("[name=locale]").select_option("de-DE")
    visitor.page.locator("[action='/profile/times'] button:not([type])").click()
    yield "profile with a zone", visitor
    yield from _invitations(visitor, chrome, email)
    visitor.leave()


def add_members(visitor: Visitor, chrome: Browser, slug: str, names: list[str]) -> None:
    """Have people join the account of a visitor, with all roles but the owner's in turn."""
    instance, guest = visitor.instance, chrome.new_context()
    key = instance.canopy(
        "key", "create", "--account", slug, "--name", "test", "--permission", "admin"
    )["key"]
    people = dict[str, str]()
    for name, role in zip(names, itertools.cycle(_ROLES), strict=False):
        email = f"member-{next(_numbers)}-{id(chrome)}@forest-office.example.org"
        response = visitor.context.request.post(
            f"{instance.url}/v1/account/members/invite",
            headers={"Authorization": f"Bearer {key}"},
            data={"email": email, "role": role},
        )
        assert response.status == 201, response.text()
        people[email] = name
    for email, name in people.items():
        link, sender = instance.link_to(email), {"X-Forwarded-For": f"14.0.{next(_addresses)}.1"}
        page = guest.request.get(link, headers=sender).text()
        token = re.findall(r'name="csrf_token" value="([^"]+)"', page)[0]
        form = {"csrf_token": token, "name": name, "password": PASSWORD}
        assert guest.request.post(link, headers=sender, form=form).ok
        guest.clear_cookies()
    guest.close()


def _members(visitor: Visitor) -> Iterator[Scene]:
    page, number = visitor.page, next(_numbers)
    refused = f"refused-{number}-{id(visitor)}@example.org"
    visitor.instance.inbox.rejected[refused] = "550 no such mailbox"
    for email in (refused, f"invited-{number}-{'long' * 12}@{'forest.' * 12}example.org"):
        visitor.go("/members")
        page.locator(".invite summary").click()
        visitor.fill(email=email)
        page.get_by_label("Editor").check()
        visitor.press("Send the invitation")
        page.get_by_role("status").wait_for()
    while not page.get_by_text("could not be sent").count():
        visitor.go("/members")
    yield "members, many", visitor
    page.locator(".invite summary").click()
    page.locator("main details summary").last.click()
    yield "members, all parts open", visitor
    visitor.go("/members")
    page.locator("main").get_by_role("link", name="Bold", exact=False).first.click()
    page.wait_for_url("**/members/user_*")
    yield "member", visitor
    visitor.go("/members")
    page.locator("main .rows a").first.click()
    page.wait_for_url("**/members/user_*")
    yield "member, invited", visitor


def _settings(visitor: Visitor) -> Iterator[Scene]:
    visitor.go("/settings")
    yield "settings", visitor
    visitor.fill(name="")
    visitor.press("Save")
    visitor.page.locator("[aria-invalid]").wait_for()
    yield "settings with error", visitor


def _deletion(visitor: Visitor) -> Iterator[Scene]:
    visitor.go("/profile/deletion")
    yield "person, the only owner", visitor
    visitor.go("/settings/deletion")
    visitor.press("Delete the account in 7 days")
    visitor.page.locator("[aria-invalid]").wait_for()
    yield "account, to be deleted, with error", visitor
    slug = visitor.go("/accounts").locator("main li code").first.inner_text()
    visitor.go("/settings/deletion")
    visitor.fill(confirmation=slug)
    visitor.press("Delete the account in 7 days")
    visitor.page.wait_for_url("**/settings/deletion")
    yield "account, scheduled for deletion", visitor
    visitor.go("/profile/deletion")
    yield "person, to be deleted", visitor


def _invitations(visitor: Visitor, chrome: Browser, email: str) -> Iterator[Scene]:
    for _ in range(2):
        other = Owner(chrome, visitor.instance)
        other.post("/v1/account/members/invite", email=email, role="viewer")
        other.leave()
    page = visitor.go("/accounts")
    page.locator(".menu-button:visible, [popovertarget=account-menu]:visible").click()
    yield "accounts, invited, with the menu", visitor
    visitor.go("/invitations")
    yield "invitations", visitor
    page.get_by_role("button", name="Decline the invitation").first.click()
    yield "invitation, to be declined", visitor
