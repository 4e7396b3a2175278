"""Sign-up, closed and opened by an operator."""

from __future__ import annotations

import pytest

from app.db.transactions import transaction
from app.pages.operator.changes import set_sign_up
from app.policy.audit import INSTANCE
from app.site.instance_state import OPEN, shown_sign_up, sign_up
from tests.account.members.support import invite
from tests.make import Browser, Client, link_in, mails_to, make_invited, new_email, second_app
from tests.make.audit import new_entries
from tests.make.browser import PASSWORD
from tests.pages.support import post

FIELDS = {"name": "Ada Birch", "password": PASSWORD, "account_name": "Birch Hill"}


def close(operator: Browser) -> None:
    operator.get("/operator")
    page = operator.submit("/operator/sign-up", press="yes")
    assert "Sign-up is closed." in page.text
    assert "Nobody has been able to sign up since" in page.text


def open_again(operator: Browser) -> None:
    operator.get("/operator")
    page = operator.submit("/operator/sign-up", press="no")
    assert "Sign-up is open again." in page.text
    assert "Anybody can sign up." in page.text


def test_nobody_signs_up_until_it_is_opened(client: Client, operator: Browser) -> None:
    stranger = Browser(client.app)
    assert "/register" in stranger.get("/login").links
    close(operator)
    for path in ("/login", "/", "/docs"):
        assert "/register" not in stranger.get(path).links, path
    page = stranger.get("/register")
    assert (page.status, page.title) == (403, "Sign-up is closed")
    open_again(operator)
    assert stranger.get("/register").status == 200
    assert "/register" in stranger.get("/login").links


def test_a_link_that_was_mailed_before_leads_nowhere(client: Client, operator: Browser) -> None:
    email, browser = new_email(), Browser(client.app)
    browser.get("/register")
    browser.submit(email=email, **FIELDS)
    link = link_in(mails_to(client.app, email)[-1])
    close(operator)
    assert browser.get(link).status == 403


def test_an_invited_person_gets_no_password_with_an_earlier_link(
    client: Client, operator: Browser
) -> None:
    email, browser = str(make_invited(client)["email"]), Browser(client.app)
    browser.get("/forgot-password")
    browser.submit(email=email)
    link = link_in(mails_to(client.app, email)[-1])
    assert browser.get(link).title == "Set a new password"
    close(operator)
    page = browser.submit(password=PASSWORD)
    assert (page.status, page.title) == (403, "Sign-up is closed")
    assert browser.get(link).status == 403
    assert browser.get("/profile").path.startswith("/login")


def test_nobody_new_is_invited(client: Client, operator: Browser) -> None:
    close(operator)
    response = invite(client, new_email())
    assert response.status_code == 403
    assert response.json["error"]["message"].endswith(
        "has not signed up, and sign-up is closed. Ask whoever runs this instance."
    )
    assert "you can invite only people who have already signed up" in operator.get("/members").text
    open_again(operator)
    assert invite(client, new_email()).status_code == 201


def test_another_process_refuses_at_once(client: Client) -> None:
    """Its pages offer to sign up for some seconds more."""
    with second_app(client.app) as other, other.app_context():
        assert shown_sign_up() == OPEN
        with client.app.app_context(), transaction():
            set_sign_up(closed=True)
        assert sign_up() == "closed"
        assert Browser(other).get("/register").status == 403


@pytest.mark.parametrize("setting", ["invited", "closed"])
def test_it_is_not_opened_further_than_the_setting(
    client: Client, operator: Browser, setting: str
) -> None:
    with second_app(client.app, sign_up=setting) as other:
        operator.app, operator.client = other, _same_cookies(operator, other)
        page = operator.get("/operator")
        assert f"SIGN_UP={setting}" in page.text
        assert ("Close sign-up" in page.text) == (setting == "invited")
        page = post(operator, "/operator/sign-up", closed="no")
        assert page.status == 303
        assert Browser(other).get("/register").status == 403


def test_each_change_is_entered_once(client: Client, operator: Browser) -> None:
    with new_entries(client, INSTANCE) as found:
        for closed in ("yes", "yes", "no", "no"):
            assert post(operator, "/operator/sign-up", closed=closed).status == 303
        assert post(operator, "/operator/sign-up", closed="perhaps").status == 400
    assert [each["action"] for each in found] == [
        "instance.sign_up_closed",
        "instance.sign_up_opened",
    ]
    assert {each["actor"]["id"] for each in found} == {client.owner_id}
    assert {each["account_id"] for each in found} == {INSTANCE}


def _same_cookies(browser: Browser, other: object) -> object:
    made = other.test_client()  # type: ignore[attr-defined]
    cookie = browser.client.get_cookie("canopy_session")
    assert cookie is not None
    made.set_cookie("canopy_session", cookie.value)
    return made
