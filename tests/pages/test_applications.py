"""Applications with access, and registering new ones."""

from __future__ import annotations

import html
import re

import pytest

from app.oauth.applications import service
from app.pages.applications import views
from app.policy.permissions import SCOPES
from app.policy.rate_limits import LONG_FORM_POSTS
from tests.make import (
    Browser,
    Client,
    bearer,
    grant_tokens,
    make_account,
    make_application,
    make_member,
)
from tests.make.browser import Page
from tests.make.oauth import BACK, Application, exchange, grant_code
from tests.pages.support import HOSTILE, browser_of, post

GIVEN = {
    "name": "Map of Woods",
    "redirect_uris": f"{BACK}\r\n\r\n  http://127.0.0.1/back ",
    "scopes": ["projects:read", "offline_access"],
    "kind": "secret",
}


def register(browser: Browser, **fields: object) -> Page:
    """Send the form of a new application."""
    return post(browser, "/applications/new", **(GIVEN | fields))


def shown(page: Page, name: str) -> str:
    """The text that can be copied under this id."""
    text = page.response.get_data(as_text=True)
    return html.unescape(re.search(rf'id="{name}">([^<]*)<', text)[1])  # type: ignore[index]


def only_access(page: Page) -> dict[str, str]:
    return page.form("/applications/end").fields


def test_what_a_person_allowed_is_listed_until_they_revoke_it(
    client: Client, stranger: Client, owner: Browser
) -> None:
    assert "No application has access to your accounts" in owner.get("/applications").text
    application = make_application(stranger, name=HOSTILE.replace("\u202e", ""))
    tokens = grant_tokens(client.app, application, client.owner_id, client.account_id)
    page = owner.get("/applications")
    assert page.text.count("<script>alert(1)</script>") == 2  # in the list, and in its dialog
    assert "<script>alert" not in page.response.get_data(as_text=True)
    assert SCOPES["projects:read"] in page.text
    assert "can no longer act for you" in page.text
    assert only_access(page)["application_id"] == application.id
    assert bearer(client, tokens["access_token"]).get("/v1/projects").status_code == 200
    page = owner.get("/applications")
    own, others = (each.get("/v1/account").json["data"]["name"] for each in (client, stranger))
    assert f"by {others} In {own} :" in page.text
    assert "last used" in page.text
    page = owner.submit("/applications/end")
    assert "Access revoked." in page.text
    assert "No application has access to your accounts" in page.text
    assert bearer(client, tokens["access_token"]).get("/v1/projects").status_code == 401


def test_only_admins_see_what_the_account_has_registered(client: Client) -> None:
    application = make_application(client, name="Bees & Co")
    for role in ("viewer", "editor"):
        browser = browser_of(client, role)
        page = browser.get("/applications")
        assert page.status == 200
        assert application.id not in page.text
        assert "Register an application" not in page.text
    page = browser_of(client, "admin").get("/applications")
    for text in ("Bees & Co", application.id, BACK, SCOPES["members:read"], "with a secret"):
        assert text in page.text


def test_numbers_are_those_of_all_accounts(client: Client, stranger: Client) -> None:
    application = make_application(client)
    owner = browser_of(client)
    assert "Nobody uses it yet" in owner.get("/applications").text
    for user_id, account in (
        (client.owner_id, client),
        (stranger.owner_id, stranger),
        (make_member(stranger).id, stranger),
    ):
        grant_tokens(client.app, application, user_id, account.account_id)
    page = owner.get("/applications")
    assert "3 people have given access · last used" in page.text


def test_an_application_is_registered_and_works(client: Client, owner: Browser) -> None:
    page = register(owner)
    assert page.status == 200
    assert page.response.headers["Cache-Control"] == "no-store"
    made = Application(
        shown(page, "client-id"), client.account_id, shown(page, "client-secret"), BACK,
        ("projects:read", "offline_access"),
    )  # fmt: skip
    code = grant_code(client.app, made, client.owner_id, client.account_id)
    answer = exchange(client.app, made, code)
    assert answer.status_code == 200
    assert answer.json["scope"] == "projects:read offline_access"
    command = shown(page, "exchange")
    assert f"client_id={made.id}" in command
    assert f"client_secret={made.secret}" in command
    assert f"redirect_uri={BACK}" in command
    assert "code_challenge" not in shown(page, "authorize-url")
    public_url = client.app.config["SETTINGS"].public_url
    assert shown(page, "token-url") == f"{public_url}/oauth/token"
    listed = owner.get("/applications")
    assert made.id in listed.text
    assert str(made.secret) not in listed.text


def test_a_public_application_gets_no_secret(client: Client, owner: Browser) -> None:
    page = register(owner, kind="public")
    assert page.status == 200
    assert "canopy_ocs_" not in page.text
    assert "has no secret, and must use PKCE" in page.text
    assert "code_verifier=VERIFIER" in shown(page, "exchange")
    assert "code_challenge_method=S256" in shown(page, "authorize-url")
    with client.app.app_context():
        assert service.list_applications(client.account_id)[0]["public"] is True


def test_a_reload_of_the_answer_registers_no_second_one(client: Client) -> None:
    account = make_account(client.app)
    owner = browser_of(account)
    mark = owner.get("/applications/new").form().fields["mark"]
    first = register(owner, mark=mark)
    again = register(owner, mark=mark)
    assert first.status == 200
    assert again.status == 303
    path = f"/applications/{shown(first, 'client-id')}"
    assert again.response.headers["Location"] == path
    assert "was sent before" in owner.get(path).text
    with client.app.app_context():
        assert len(service.list_applications(account.account_id)) == 1
    assert register(owner, mark=owner.get("/applications/new").form().fields["mark"]).status == 200


def test_what_is_wrong_is_said_beside_its_field(client: Client) -> None:
    account = make_account(client.app)
    owner = browser_of(account)
    for fields, told in [
        ({"name": " "}, ["Must have 1 to 200 characters."]),
        ({"name": "x" * 201}, ["Must have 1 to 200 characters."]),
        ({"name": HOSTILE}, ["without characters that control how text is shown"]),
        ({"redirect_uris": ""}, ["Must be 1 to 20 URIs."]),
        (
            {"redirect_uris": "http://map.example/\nhttps://map.example/*\n<b>"},
            [
                "'http://map.example/': Must be https",
                "'https://map.example/*': Must be a complete URI",
                "'<b>': Must contain only characters valid in a URI",
            ],
        ),
        ({"redirect_uris": "x\n" * 10_000}, ["Must be 1 to 20 URIs."]),
        ({"scopes": []}, ["Choose at least one."]),
        ({"scopes": ["admin"]}, ["Must be one or more of profile, projects:read"]),
        ({"kind": "both"}, ["Not a valid choice"]),
        ({"kind": ""}, ["Not a valid choice"]),
    ]:
        owner._address = Browser.address()  # each has had few requests
        page = register(owner, **fields)
        assert page.status == 422
        assert "Please fix 1 field." in page.text
        for text in told:
            assert text in page.text
        typed = page.form("/applications/new").fields
        if "name" not in fields:
            assert typed["name"] == "Map of Woods"
        if "redirect_uris" not in fields:
            assert BACK in typed["redirect_uris"]
        with client.app.app_context():
            assert service.list_applications(account.account_id) == []


def test_the_limit_of_an_account_is_said(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    account = make_account(client.app)
    owner = browser_of(account)
    for module in (service, views):
        monkeypatch.setattr(module, "APPLICATIONS_PER_ACCOUNT", 1)
    assert register(owner).status == 200
    page = register(owner)
    assert page.status == 403
    assert "The account has 1 applications, and can have 1." in page.text
    assert page.form("/applications/new").fields["name"] == "Map of Woods"
    page = owner.get("/applications")
    assert "1 of 1. Delete one to register another." in page.text
    assert "/applications/new" not in page.links


def test_registering_often_is_refused_for_a_while(client: Client) -> None:
    owner = browser_of(make_account(client.app))
    owner._address = Browser.address()
    statuses = [register(owner).status for _ in range(LONG_FORM_POSTS.requests + 1)]
    assert statuses == [200] * LONG_FORM_POSTS.requests + [429]
