"""The consent form: what it can grant, and who can submit it."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.account.members.service import remove_member
from app.db.extensions import db
from app.db.transactions import transaction
from app.oauth.applications.service import delete_application, update_application
from app.oauth.requests import CannotRedirect, read_request
from app.oauth.service import grant_request
from tests.make import Application, Client, bearer, make_invited, make_member, operator_of
from tests.make.oauth import exchange
from tests.oauth.support import authorize_url, browser_of, redirect_query, rows, second_account


def test_choosing_one_of_several_accounts(
    client: Client, stranger: Client, application: Application
) -> None:
    other = second_account(client, stranger)
    browser = browser_of(client)
    page = browser.get(authorize_url(application))
    assert page.form(page.path).fields["account_id"] in (client.account_id, other)
    assert "where you are a viewer" in page.text
    response = redirect_query(browser.submit(page.path, press="allow", account_id=other))
    tokens = exchange(client.app, application, response["code"]).json
    verified = bearer(stranger, tokens["access_token"]).get("/v1/auth/verify").json
    assert verified["account_id"] == other
    assert "projects:write" not in verified["permissions"]


def test_an_account_of_others_cannot_be_chosen(
    client: Client, stranger: Client, application: Application
) -> None:
    """Nor one to which the person is invited."""
    email = rows(client, "SELECT email FROM users WHERE id = :id", id=client.owner_id)[0][0]
    make_invited(stranger, email=email)
    browser, address = browser_of(client), authorize_url(application)
    page = browser.get(address)
    assert stranger.account_id not in page.response.get_data(as_text=True)
    fields = page.form(address).fields | {"decision": "allow"}
    chosen = [{"account_id": each} for each in (stranger.account_id, "acct_x", "", "\x00")]
    del fields["account_id"]
    for account in (*chosen, {}):
        page = browser.send(address, **fields, **account)
        assert page.status == 422, account
        assert "Location" not in page.response.headers


def test_a_form_without_a_decision_asks_again(client: Client, application: Application) -> None:
    browser = browser_of(client)
    page = browser.get(authorize_url(application))
    for decision in ("", "yes", "ALLOW"):
        page = browser.submit(page.path, decision=decision)
        assert page.status == 422
        assert "Nothing is allowed yet" in page.text
        assert page.title == "Map of Woods asks for access"


def test_a_person_without_an_account_gets_an_error_page(
    client: Client, application: Application
) -> None:
    member = make_member(client)
    with client.app.app_context(), transaction():
        remove_member(operator_of(client), member.id)
    page = browser_of(client, member.id).get(authorize_url(application))
    assert page.status == 403
    assert "You do not belong to an account" in page.text


def test_a_member_removed_while_the_page_is_open_cannot_consent(
    client: Client, application: Application
) -> None:
    member = make_member(client)
    browser = browser_of(client, member.id)
    page = browser.get(authorize_url(application))
    with client.app.app_context(), transaction():
        statement = text("DELETE FROM memberships WHERE user_id = :id")
        db.session.execute(statement, {"id": member.id})
    assert browser.submit(page.path, press="allow").status == 403


def test_request_parameters_in_the_form_are_ignored(
    client: Client, application: Application
) -> None:
    browser = browser_of(client)
    page = browser.get(authorize_url(application, scope="profile"))
    page = browser.submit(
        page.path,
        press="allow",
        scope="projects:write",
        redirect_uri="https://evil.example/",
        client_id="app_x",
        state="evil",
    )
    response = redirect_query(page)
    assert response["state"] == "xyz"
    assert exchange(client.app, application, response["code"]).json["scope"] == "profile"


def test_another_site_cannot_submit_the_form(client: Client, application: Application) -> None:
    browser = browser_of(client)
    fields = {"decision": "allow", "account_id": client.account_id}
    for headers in ({}, {"Origin": "https://evil.example"}):
        page = browser.send(authorize_url(application), headers=headers, **fields)
        assert page.status == 403
        assert "Location" not in page.response.headers


def test_a_form_from_before_signing_in_again_is_rejected(
    client: Client, application: Application
) -> None:
    attacker, victim = browser_of(client), browser_of(client)
    token = attacker.get(authorize_url(application)).form().fields["csrf_token"]
    fields = {"decision": "allow", "account_id": client.account_id, "csrf_token": token}
    assert victim.send(authorize_url(application), **fields).status == 403


def test_an_application_deleted_while_the_page_is_open(
    client: Client, application: Application
) -> None:
    browser = browser_of(client)
    page = browser.get(authorize_url(application))
    with client.app.app_context():
        auth_request = read_request(authorize_url(application).partition("?")[2].encode())
        assert delete_application(client.account_id, application.id)
        db.session.commit()
        with pytest.raises(CannotRedirect):
            grant_request(auth_request, client.owner_id, client.account_id, is_confirmed=True)
    page = browser.submit(page.path, press="allow")
    assert page.status == 400
    assert "Location" not in page.response.headers


def test_an_application_that_may_ask_for_less_meanwhile_gets_nothing(
    client: Client, application: Application
) -> None:
    with client.app.app_context():
        auth_request = read_request(authorize_url(application).partition("?")[2].encode())
        update_application(client.account_id, application.id, scopes=["profile"])
        db.session.commit()
        with pytest.raises(CannotRedirect, match="may not ask for all of this anymore"):
            grant_request(auth_request, client.owner_id, client.account_id, is_confirmed=True)
