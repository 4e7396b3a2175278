"""The pages of applications that an account registers, in all their states."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from tests.browser.conftest import Visitor

Scene = tuple[str, Visitor]
_NAMES = ('<b>Map</b> & "quoted"', "خريطة الغابة القديمة", "Unbroken" * 25)
_LONG = "https://map.example.org/" + "back" * 200


def registered(visitor: Visitor) -> Iterator[Scene]:
    """Yield each scene's name, and the visitor, who is an admin of an account."""
    page = visitor.go("/applications/new")
    page.wait_for_load_state()
    visitor.fill(name=" ", redirect_uris=f"http://map.example.org/\n{_LONG}*\nx")
    visitor.press("Register")
    page.locator("[aria-invalid]").first.wait_for()
    yield "new application with errors", visitor
    back = f"{visitor.instance.url}/docs"
    for name in _NAMES:
        client_id = register(visitor, name, back, *[f"{_LONG}/{n}" for n in range(4)])
    yield "application registered", visitor
    visitor.go(consent_path(client_id, back))
    visitor.press("Allow")
    page.wait_for_url(f"{back}?**")
    visitor.go("/applications")
    yield "applications, several", visitor
    visitor.go(f"/applications/{client_id}")
    yield "application", visitor
    visitor.press("Rotate the secret…")
    visitor.press("Rotate")
    page.locator("#client-secret").wait_for()
    yield "application, secret rotated", visitor
    visitor.press("Delete…")
    yield "application, to be deleted", visitor
    visitor.press("Cancel")
    page.locator("[value='projects:read']").uncheck()
    page.locator("form#change").get_by_role("button", name="Save").click()
    page.get_by_text("Not saved yet.").wait_for()
    yield "application, access to be ended", visitor
    visitor.move()


def register(visitor: Visitor, name: str, *uris: str) -> str:
    """Register an application by the form. Returns its client id."""
    visitor.move()
    page = visitor.go("/applications/new")
    visitor.fill(name=name, redirect_uris="\n".join(uris))
    for value in ("projects:read", "offline_access", "secret"):
        page.locator(f"[value='{value}']").check()
    visitor.press("Register")
    return page.locator("#client-id").inner_text()


def consent_path(client_id: str, back: str) -> str:
    """The path on which somebody is asked to allow an application what ``register`` says."""
    asked = {
        "client_id": client_id,
        "redirect_uri": back,
        "response_type": "code",
        "scope": "projects:read offline_access",
    }
    return f"/oauth/authorize?{urlencode(asked)}"
