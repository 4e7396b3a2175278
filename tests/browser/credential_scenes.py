"""The pages of API keys and service tokens, in all their states."""

from __future__ import annotations

from collections.abc import Iterator

from tests.browser.conftest import Visitor

Scene = tuple[str, Visitor]
_LONG = '<b>Bold</b> & "quoted" ' + "Unbroken" * 20


def credentials(visitor: Visitor) -> Iterator[Scene]:
    """Yield each scene's name, and the visitor, whose account has projects and a key."""
    page = visitor.go("/service-tokens")
    yield "service tokens, none", visitor
    visitor.go("/service-tokens/new")
    visitor.fill(ip_allowlist="here")
    visitor.press("Create service token")
    page.locator("[aria-invalid]").first.wait_for()
    yield "new service token with errors", visitor
    visitor.go("/api-keys/new?scope=some&life=date")
    page.locator("#project-choices").wait_for()
    yield "new API key for some projects", visitor
    visitor.go("/api-keys/new")
    visitor.fill(name=_LONG)
    page.get_by_label("Only these projects").check()
    page.locator("#project-choices input").first.check()
    page.locator("input[value='projects:read']").check()
    visitor.press("Create API key")
    page.locator("#secret").wait_for()
    yield "API key, made", visitor
    visitor.go("/api-keys")
    page.locator("details summary").first.click()
    yield "API keys", visitor
    page.get_by_role("button", name="Revoke").first.click()
    yield "API key, to be revoked", visitor
