"""The page that an invitation leads to, for whoever follows its link."""

from __future__ import annotations

import itertools

import pytest
from flask import Flask

from tests.make import Browser, Client, event_types, link_in, mails_to, sign_in, sign_up
from tests.make.browser import PASSWORD

_numbers = itertools.count(1)


@pytest.fixture
def email(app: Flask) -> str:
    return f"willow-{next(_numbers)}-{id(app)}@example.org"


def invite(client: Client, email: str, role: str = "editor") -> str:
    """Invite somebody, and give the link that they get."""
    answer = client.post("/v1/account/members/invite", json={"email": email, "role": role})
    assert answer.status_code == 201
    return link_in(mails_to(client.app, email)[-1])


def members(client: Client) -> dict[str, dict[str, object]]:
    """The members by their addresses."""
    listed = client.get("/v1/account/members").json["data"]
    return {member["email"]: member for member in listed}


def test_somebody_new_joins_with_a_password_of_their_own(
    app: Flask, client: Client, email: str
) -> None:
    browser = Browser(app)
    assert email in browser.get(invite(client, email)).text
    page = browser.submit(name="Willow Reed", password=PASSWORD)
    assert page.path == "/accounts"
    assert "You are an editor" in page.text
    assert sign_in(app, email)
    assert members(client)[email]["name"] == "Willow Reed"
    assert members(client)[email]["joined_at"] is not None
    assert event_types(client)[-1] == "member.joined"


@pytest.mark.parametrize(
    ("name", "password"), [("", PASSWORD), ("Willow", "short"), ("Willow", "password123")]
)
def test_what_somebody_new_enters_is_checked_and_the_link_stays_good(
    app: Flask, client: Client, email: str, name: str, password: str
) -> None:
    browser = Browser(app)
    browser.get(invite(client, email))
    assert browser.submit(name=name, password=password).status == 422
    assert browser.submit(name="Willow", password=PASSWORD).path == "/accounts"


def test_who_is_signed_in_joins_with_one_click(app: Flask, client: Client, email: str) -> None:
    browser = sign_up(app, email, account="Willow Bank")
    browser.get(invite(client, email, "viewer"))
    page = browser.submit()
    assert "You are a viewer" in page.text
    assert "Willow Bank" in page.text


def test_who_has_a_password_signs_in_first(app: Flask, client: Client, email: str) -> None:
    sign_up(app, email).submit("/logout")
    browser, link = Browser(app), invite(client, email)
    page = browser.get(link)
    to_sign_in = next(path for path in page.links if path.startswith("/login?"))
    assert not [form for form in page.forms if form.action == ""]
    browser.get(to_sign_in)
    page = browser.submit(email=email, password=PASSWORD)
    assert page.title.startswith("Join ")
    assert "You have joined" in browser.submit().text


def test_an_invitation_is_for_one_person(app: Flask, client: Client, email: str) -> None:
    other = sign_up(app, f"other-{email}")
    page = other.get(invite(client, email))
    assert email in page.text
    token = page.form("/logout").fields
    assert other.send(page.path, **token).status == 200
    assert members(client)[email]["joined_at"] is None


def test_an_invitation_works_once(app: Flask, client: Client, email: str) -> None:
    browser, link = Browser(app), invite(client, email)
    browser.get(link)
    browser.submit(name="Willow", password=PASSWORD)
    page = Browser(app).get(link)
    assert page.status == 404
    assert page.title == "This invitation is no longer good"


def test_a_newer_mail_takes_its_place(app: Flask, client: Client, email: str) -> None:
    first = invite(client, email)
    second = invite(client, email)
    assert Browser(app).get(first).status == 404
    assert Browser(app).get(second).status == 200


def test_a_withdrawn_invitation_is_no_longer_good(app: Flask, client: Client, email: str) -> None:
    link = invite(client, email)
    browser = Browser(app)
    browser.get(link)
    client.delete(f"/v1/account/members/{members(client)[email]['id']}")
    page = browser.submit(name="Willow", password=PASSWORD)
    assert page.status == 404
    assert Browser(app).get(link).status == 404


def test_who_was_removed_is_signed_out_of_this_account_at_once(
    app: Flask, client: Client, email: str
) -> None:
    browser = Browser(app)
    browser.get(invite(client, email))
    browser.submit(name="Willow", password=PASSWORD)
    client.delete(f"/v1/account/members/{members(client)[email]['id']}")
    assert browser.get("/accounts").title == "Sign in"
    page = Browser(app)
    page.get("/login")
    assert "You belong to no account" in page.submit(email=email, password=PASSWORD).text
