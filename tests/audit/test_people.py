"""Entries of what people do: signing up, in and out, passwords, joining and leaving."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.auth import login_throttle
from app.auth.memberships import memberships_of
from app.db.extensions import db
from app.models import User
from app.policy.audit import INSTANCE
from tests.make import Browser, Client, make_application, make_invited, make_member, new_email
from tests.make import invitation_token as token_of
from tests.make.audit import audit_entries, new_entries
from tests.make.browser import PASSWORD, sign_in, sign_up
from tests.make.mails import link_in, mails_to
from tests.make.oauth import bearer, exchange, grant_tokens
from tests.oauth.support import authorize_url, redirect_query
from tests.pages.support import browser_of, post, signed_in_browser

NAME = "Map of Woods"


def _account(client: Client, email: str) -> str:
    """The account of a person who belongs to one."""
    with client.app.app_context():
        person = db.session.scalars(select(User).where(User.email == email)).one()
        (membership,) = memberships_of(person.id)
        db.session.rollback()
        account_id: str = membership.id
        return account_id


def test_signing_up_signing_in_and_out(client: Client) -> None:
    email = new_email()
    browser = sign_up(client.app, email)
    log = _account(client, email)
    with new_entries(client, log) as found:
        browser.get("/profile")
        browser.submit("/logout")
        sign_in(client.app, email)
    assert [each["action"] for each in found] == ["person.signed_out", "person.signed_in"]
    for each in found:
        assert each["account_id"] == log
        assert each["actor"] == each["target"] | {"type": "person"}
        assert each["actor"]["label"] == email
        assert each["via"]["ip"]
        assert each["via"]["user_agent"].startswith("Mozilla")


def test_an_account_that_invites_somebody_later_does_not_see_from_where_they_sign_in(
    client: Client,
) -> None:
    email = new_email()
    sign_up(client.app, email)
    log = _account(client, email)
    make_member(client, email=email)  # of an account that comes first by name
    with new_entries(client, log) as found:
        sign_in(client.app, email)
    assert [each["account_id"] for each in found] == [log]


def test_the_account_of_a_new_person_is_made_by_them(client: Client) -> None:
    email = new_email()
    sign_up(client.app, email)
    log = _account(client, email)
    first, *_ = audit_entries(client, log)
    assert first["action"] == "account.created"
    assert first["actor"]["label"] == email
    assert first["changes"]["owner"] == {"from": None, "to": email}


def test_a_wrong_password_is_refused(client: Client) -> None:
    email = new_email()
    sign_up(client.app, email)
    log = _account(client, email)
    with new_entries(client, log, INSTANCE) as found:
        browser = Browser(client.app)
        browser.get("/login")
        browser.submit(email=email, password="lichen under young firs")
        browser.get("/login")
        browser.submit(email="nobody-at-all@example.org", password="lichen under young firs")
    known, unknown = found
    assert (known["action"], known["outcome"]) == ("person.sign_in_refused", "refused")
    assert known["account_id"] == log
    assert known["target"]["label"] == email
    assert (unknown["account_id"], unknown["target"]["id"]) == (INSTANCE, None)
    assert unknown["target"]["label"] == "nobody-at-all@example.org"


def test_refused_sign_ins_of_strangers_are_bounded(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are anybody's to make up; those of people who are known here are all recorded."""
    monkeypatch.setattr(login_throttle, "REFUSALS_RECORDED", 2)
    email, browser = new_email(), Browser(client.app, Browser.address())
    sign_up(client.app, email)
    with new_entries(client, _account(client, email), INSTANCE) as found:
        for who in ("a@example.org", "b@example.org", "c@example.org", email, "d@example.org"):
            browser.get("/login")
            assert browser.submit(email=who, password="lichen under young firs").status == 422
    assert {each["target"]["label"] for each in found} == {"a@example.org", "b@example.org", email}


def test_a_password_is_changed_and_reset(client: Client) -> None:
    email = new_email()
    browser = sign_up(client.app, email)
    log = _account(client, email)
    with new_entries(client, log) as found:
        new = "lichen under young firs"
        browser.get("/profile")
        browser.submit("/profile/password", password=PASSWORD, new_password=new)
    assert [each["action"] for each in found] == ["person.password_changed"]
    with new_entries(client, log) as found:
        stranger = Browser(client.app)
        stranger.get("/forgot-password")
        stranger.submit(email=email)
        stranger.get(link_in(mails_to(client.app, email)[-1]))
        stranger.submit(password=PASSWORD)
    assert [each["action"] for each in found] == ["person.password_changed"]
    assert found[0]["actor"]["label"] == email


def test_an_invitation_is_accepted(client: Client) -> None:
    email = new_email()
    make_invited(client, email=email)
    with new_entries(client) as found:
        browser = Browser(client.app)
        browser.get(f"/invitations/{token_of(client, email)}")
        browser.submit(name="Jo", password=PASSWORD)
    assert [each["action"] for each in found] == ["member.joined"]
    assert found[0]["actor"]["label"] == email


def test_a_member_leaves(client: Client) -> None:
    member = make_member(client, "editor")
    browser = signed_in_browser(client, member.id)
    with new_entries(client) as found:
        post(browser, "/accounts/leave", account_id=client.account_id)
    (entry,) = found
    assert entry["action"] == "member.removed"
    assert entry["actor"]["id"] == entry["target"]["id"] == member.id
    assert entry["changes"]["role"] == {"from": "editor", "to": None}


def test_an_application_is_allowed_and_revoked(client: Client) -> None:
    application = make_application(client, name=NAME)
    browser = browser_of(client)
    with new_entries(client) as found:
        browser.get(authorize_url(application))
        browser.submit(decision="allow", account_id=client.account_id, follow=False)
    (entry,) = found
    assert entry["action"] == "application.allowed"
    assert entry["target"]["label"] == NAME
    assert entry["changes"]["scopes"]["from"] == []
    with new_entries(client) as found:
        fields = {"account_id": client.account_id, "application_id": application.id}
        post(browser, "/applications/end", **fields)
    assert [each["action"] for each in found] == ["application.revoked"]
    assert found[0]["target"]["label"] == NAME


def test_access_that_an_earlier_consent_gives_is_recorded(client: Client) -> None:
    application = make_application(client, name=NAME, scopes=["projects:read", "assets:read"])
    browser = browser_of(client)
    browser.get(authorize_url(application, scope="projects:read assets:read"))
    browser.submit(decision="allow", account_id=client.account_id, follow=False)
    with new_entries(client) as found:
        silent = browser.get(authorize_url(application, scope="assets:read"), follow=False)
        tokens = exchange(client.app, application, redirect_query(silent)["code"])
        assert tokens.status_code == 200
    (entry,) = found
    assert entry["action"] == "application.allowed_again"
    assert entry["actor"]["id"] == client.owner_id
    assert entry["target"] == {"type": "application", "id": application.id, "label": NAME}
    assert entry["changes"] == {"scopes": {"from": None, "to": ["assets:read"]}}
    page = browser.get("/audit-log?action=application.allowed_again").text
    assert f"let the application {NAME} act for them again" in page
    assert "Let an application act for them again" in page


def test_an_application_acts_for_a_person(client: Client) -> None:
    application = make_application(client, name=NAME, scopes=["projects:read", "projects:write"])
    tokens = grant_tokens(
        client.app, application, client.owner_id, client.account_id, ["projects:write"]
    )
    with new_entries(client) as found:
        bearer(client, tokens["access_token"]).post("/v1/projects", {"name": "By an application"})
    (entry,) = found
    assert entry["actor"] == {
        "type": "person",
        "id": client.owner_id,
        "label": entry["actor"]["label"],
    }
    assert entry["via"]["application"] == {"id": application.id, "label": NAME}
