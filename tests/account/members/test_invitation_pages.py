"""The page for accepting an invitation."""

from __future__ import annotations

from flask import Flask

from tests.make import Browser, Client, event_types, link_in, mails_to, sign_in, sign_up
from tests.make.browser import PASSWORD


def invite(client: Client, email: str, role: str = "editor") -> str:
    """Invite a person. Returns the path of the mailed link."""
    response = client.post("/v1/account/members/invite", json={"email": email, "role": role})
    assert response.status_code == 201
    return link_in(mails_to(client.app, email)[-1])


def members(client: Client) -> dict[str, dict[str, object]]:
    """The members by address."""
    listed = client.get("/v1/account/members").json["data"]
    return {member["email"]: member for member in listed}


def test_a_new_person_sets_a_password(app: Flask, client: Client, email: str) -> None:
    browser = Browser(app)
    assert email in browser.get(invite(client, email)).text
    page = browser.submit(name="Willow Reed", password=PASSWORD)
    assert page.path == "/projects"
    assert "You are an editor" in browser.get("/accounts").text
    assert sign_in(app, email)
    assert members(client)[email]["name"] == "Willow Reed"
    assert members(client)[email]["joined_at"] is not None
    assert event_types(client)[-1] == "member.joined"


def test_invalid_input_is_rejected_and_the_link_stays_valid(
    app: Flask, client: Client, email: str
) -> None:
    browser = Browser(app)
    browser.get(invite(client, email))
    for name, password in (("", PASSWORD), ("Willow", "short"), ("Willow", "password123")):
        assert browser.submit(name=name, password=password).status == 422
    assert browser.submit(name="Willow", password=PASSWORD).path == "/projects"


def test_a_signed_in_person_joins_with_one_click(app: Flask, client: Client, email: str) -> None:
    browser = sign_up(app, email, account="Willow Bank")
    browser.get(invite(client, email, "viewer"))
    browser.submit()
    page = browser.get("/accounts")
    assert "You are a viewer" in page.text
    assert "Willow Bank" in page.text


def test_a_person_with_a_password_signs_in_first(app: Flask, client: Client, email: str) -> None:
    sign_up(app, email)
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


def test_a_withdrawn_invitation_cannot_be_used(app: Flask, client: Client, email: str) -> None:
    link = invite(client, email)
    browser = Browser(app)
    browser.get(link)
    client.delete(f"/v1/account/members/{members(client)[email]['id']}")
    page = browser.submit(name="Willow", password=PASSWORD)
    assert page.status == 404
    assert Browser(app).get(link).status == 404
