"""Every way of signing in with a password or a mailed link has the second step."""

from __future__ import annotations

import ast
from pathlib import Path
from urllib.parse import quote

from flask import Flask

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import User
from config import ROOT
from tests.make import (
    Browser,
    Client,
    invitation_token,
    make_account,
    make_application,
    make_invited,
    second_app,
    signed_in,
)
from tests.make.browser import PASSWORD
from tests.oauth.support import authorize_url
from tests.people.second_factor.support import (
    STEP,
    Later,
    give,
    give_password,
    options_of,
    person_with_app,
    turn_on,
)
from tests.people.second_factor.test_passkeys import person_with_passkey

# Who may start a session directly, and why there is no second step.
DIRECT = {
    "app/pages/single_sign_on/views.py": "the provider asks for the second factor",
    "app/site/second_step.py": "begins it",
    "app/pages/second_factor/views.py": "ends it",
    "app/pages/profile/views.py": "a new session in place of one that has passed it",
}


def test_an_application_gets_its_answer_after_the_second_step(
    app: Flask, email: str, later: Later
) -> None:
    factor = person_with_app(app, email)
    application = make_application(make_account(app))
    later.move()
    asked = authorize_url(application, scope="projects:read")
    browser = give_password(app, email, target=quote(asked))
    assert browser.page is not None
    assert not browser.page.has_form_action
    assert not give(browser, value=factor.wrong()).has_form_action
    page = give(browser, value=factor.code())
    assert page.path == asked
    assert "Map of Woods" in page.text
    begun = give_password(app, email, target="/projects").page
    assert begun is not None
    assert begun.has_form_action


def test_an_invitation_leads_back_after_the_second_step(
    app: Flask, client: Client, email: str, later: Later
) -> None:
    factor = person_with_app(app, email)
    make_invited(client, email=email)
    link = f"/invitations/{invitation_token(client, email)}"
    later.move()
    browser = give_password(app, email, target=quote(link))
    give(browser, value=factor.code())
    assert browser.submit(link).path == "/projects"


def test_an_invitation_with_a_first_password_has_the_second_step(
    app: Flask, client: Client, email: str, later: Later
) -> None:
    """Of somebody who signs in elsewhere, and has a second factor here."""
    factor = person_with_app(app, email)
    with app.app_context(), transaction():
        person = db.session.scalars(db.select(User).where(User.email == email)).one()
        person.password_hash = None
    make_invited(client, email=email)
    browser = Browser(app)
    browser.get(f"/invitations/{invitation_token(client, email)}")
    page = browser.submit(name="Jo", password=PASSWORD)
    assert (page.path, "You have joined" in page.text) == (STEP, True)
    assert browser.get("/projects").title == "Sign in"
    browser.get(STEP)
    later.move()
    assert give(browser, value=factor.code()).path == "/projects"


def test_a_new_password_keeps_the_session_that_has_passed_it(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    turn_on(browser)
    browser.get("/profile")
    page = browser.submit("/profile/password", password=PASSWORD, new_password="lichen up north")
    assert page.path == "/profile"
    assert "Password changed" in page.text


def test_nothing_else_starts_a_session() -> None:
    """Each call of sign_in is listed above, with a reason."""
    callers = {
        str(path.relative_to(ROOT))
        for path in Path(ROOT / "app").rglob("*.py")
        if "sign_in(" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "sign_in"
    }
    assert callers == set(DIRECT)


def test_a_passkey_is_of_the_host_of_the_public_url(app: Flask, email: str) -> None:
    """Whatever host a request names."""
    person_with_passkey(app, email)
    site = "https://forest.example"
    with second_app(app, public_url=site, public_url_is_set=True) as other:
        browser = Browser(other)
        browser.headers |= {"Host": "evil.example", "Origin": site}
        fields = browser.get("/login", base_url=site).form().fields
        sent = browser.send("/login", **fields | {"email": email, "password": PASSWORD})
        assert sent.response.headers["Location"] == STEP
        assert options_of(browser.get(STEP, base_url=site))["rpId"] == "forest.example"
