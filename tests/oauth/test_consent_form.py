"""What the form of consent can grant, and whose form it is."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.db.extensions import db
from app.members.service import remove_member
from app.oauth.applications import delete_application
from app.oauth.service import CannotRedirect, grant, read_request, redirect_target
from tests.make import (
    Application,
    Client,
    bearer,
    make_invited,
    make_member,
    operator_of,
)
from tests.make.oauth import exchange
from tests.oauth.support import address_of, browser_of, rows, sent_back


def _second_account(client: Client, stranger: Client) -> str:
    """Let the owner of ``client`` be a viewer of the other account too; its id."""
    email = rows(client, "SELECT email FROM users WHERE id = :id", id=client.owner_id)[0][0]
    make_member(stranger, "viewer", email=email)
    return stranger.account_id


def test_of_several_accounts_one_is_chosen(
    client: Client, stranger: Client, application: Application
) -> None:
    other = _second_account(client, stranger)
    browser = browser_of(client)
    page = browser.get(address_of(application))
    assert page.form(page.path).fields["account_id"] in (client.account_id, other)
    assert "where you are a viewer" in page.text
    answer = sent_back(browser.submit(page.path, press="allow", account_id=other))
    tokens = exchange(client.app, application, answer["code"]).json
    verified = bearer(stranger, tokens["access_token"]).get("/v1/auth/verify").json
    assert verified["account_id"] == other
    assert "projects:write" not in verified["permissions"]


@pytest.mark.parametrize("account", ["stranger", "invited", "acct_x", "", "\x00", None])
def test_an_account_that_is_not_the_persons_cannot_be_chosen(
    client: Client, stranger: Client, application: Application, account: str | None
) -> None:
    email = rows(client, "SELECT email FROM users WHERE id = :id", id=client.owner_id)[0][0]
    if account == "invited":
        make_invited(stranger, email=email)
    account_id = stranger.account_id if account in ("stranger", "invited") else account
    browser = browser_of(client)
    page = browser.get(address_of(application))
    assert stranger.account_id not in page.response.get_data(as_text=True)
    fields = {} if account_id is None else {"account_id": account_id}
    if account_id is None:
        del page.form(page.path).fields["account_id"]
    page = browser.submit(page.path, press="allow", **fields)
    assert page.status == 422
    assert "Location" not in page.response.headers


@pytest.mark.parametrize("decision", ["", "yes", "ALLOW"])
def test_a_form_without_a_decision_asks_again(
    client: Client, application: Application, decision: str
) -> None:
    browser = browser_of(client)
    page = browser.get(address_of(application))
    page = browser.submit(page.path, decision=decision)
    assert page.status == 422
    assert "Nothing is allowed yet" in page.text
    assert page.title == "Map of Woods asks for access"


def test_whoever_belongs_to_no_account_is_told_so(client: Client, application: Application) -> None:
    member = make_member(client)
    with client.app.app_context():
        remove_member(operator_of(client), member.id)
        db.session.commit()
    page = browser_of(client, member.id).get(address_of(application))
    assert page.status == 403
    assert "You belong to no account" in page.text


def test_whoever_is_removed_while_the_page_is_open_cannot_allow(
    client: Client, application: Application
) -> None:
    member = make_member(client)
    browser = browser_of(client, member.id)
    page = browser.get(address_of(application))
    with client.app.app_context():
        statement = text("DELETE FROM memberships WHERE user_id = :id")
        db.session.execute(statement, {"id": member.id})
        db.session.commit()
    assert browser.submit(page.path, press="allow").status == 403


def test_the_form_is_judged_by_its_address_not_by_what_it_holds(
    client: Client, application: Application
) -> None:
    browser = browser_of(client)
    page = browser.get(address_of(application, scope="profile"))
    page = browser.submit(
        page.path,
        press="allow",
        scope="projects:write",
        redirect_uri="https://evil.example/",
        client_id="app_x",
        state="evil",
    )
    answer = sent_back(page)
    assert answer["state"] == "xyz"
    assert exchange(client.app, application, answer["code"]).json["scope"] == "profile"


@pytest.mark.parametrize("headers", [{}, {"Origin": "https://evil.example"}])
def test_another_site_cannot_allow(
    client: Client, application: Application, headers: dict[str, str]
) -> None:
    browser = browser_of(client)
    fields = {"decision": "allow", "account_id": client.account_id}
    page = browser.send(address_of(application), headers=headers, **fields)
    assert page.status == 403
    assert "Location" not in page.response.headers


def test_the_form_of_another_sign_in_is_refused(client: Client, application: Application) -> None:
    attacker, victim = browser_of(client), browser_of(client)
    token = attacker.get(address_of(application)).form().fields["csrf_token"]
    fields = {"decision": "allow", "account_id": client.account_id, "csrf_token": token}
    assert victim.send(address_of(application), **fields).status == 403


def test_an_application_that_is_deleted_while_the_page_is_open(
    client: Client, application: Application
) -> None:
    browser = browser_of(client)
    page = browser.get(address_of(application))
    with client.app.app_context():
        asked = read_request(address_of(application).partition("?")[2].encode())
        assert delete_application(client.account_id, application.id)
        db.session.commit()
        with pytest.raises(CannotRedirect):
            grant(asked, client.owner_id, client.account_id)
        db.session.rollback()
    page = browser.submit(page.path, press="allow")
    assert page.status == 400
    assert "Location" not in page.response.headers


def test_an_application_leads_where_a_sign_in_may_end(
    client: Client, application: Application
) -> None:
    with client.app.app_context():
        assert redirect_target(address_of(application)) == application.redirect_uri
        for address in (
            *("/", "/oauth/authorize", "/oauth/authorize?x", "/oauth/token", "\ud800"),
            address_of(application, redirect_uri="https://evil.example/"),
            address_of(application, scope="bees"),
            "/oauth/authorize?\ud800",
            f"/accounts?{address_of(application)}",
        ):
            assert redirect_target(address) is None
