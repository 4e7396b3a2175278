"""The first pages."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from tests.make import Browser, Client, make_account, make_member, make_project
from tests.pages.support import browser_of, post, signed_in_browser


def test_strangers_are_told_what_it_is(app: Flask) -> None:
    page = Browser(app).get("/")
    assert page.status == 200
    assert "hectares you can rely on" in page.text
    assert {"/login", "/register", "/docs"} <= set(page.links)
    assert page.title == "Forest projects and their boundaries"


def test_a_new_account_gets_started_and_others_see_their_projects(app: Flask) -> None:
    account = make_account(app)
    owner, viewer = browser_of(account), browser_of(account, "viewer")
    assert owner.get("/").path == "/welcome"
    assert viewer.get("/").path == "/projects"
    make_project(account)
    assert owner.get("/").path == "/projects"


def test_the_steps_say_what_is_done(app: Flask) -> None:
    account = make_account(app)
    owner = browser_of(account)
    done = int(re.search(r"(\d) of 3 done", owner.get("/welcome").text)[1])  # type: ignore[index]
    make_project(account)
    make_member(account)
    page = owner.get("/welcome")
    assert f"{done + 2} of 3 done" in page.text
    assert {"/projects/new", "/projects/new?from=example", "/imports/new"} <= set(page.links)


def test_a_key_is_made_and_works(client: Client, owner: Browser) -> None:
    page = post(owner, "/welcome/key")
    assert page.status == 200
    key = re.search(r"canopy_key_\w+", page.text)[0]  # type: ignore[index]
    assert page.response.headers["Cache-Control"] == "no-store"
    made = Client(client.app, client.account_id, client.owner_id, key)
    verified = made.get("/v1/auth/verify").json
    assert {"assets:write", "projects:write"} <= set(verified["permissions"])
    assert key not in owner.get("/welcome").text


def test_an_editor_makes_no_key(client: Client) -> None:
    editor = browser_of(client, "editor")
    assert "Ask an owner or admin" in editor.get("/welcome").text
    assert post(editor, "/welcome/key").status == 403


def test_somebody_without_an_account_is_led_to_one(app: Flask) -> None:
    account = make_account(app)
    member = make_member(account, "viewer")

    browser = signed_in_browser(account, member.id)
    page = post(browser, "/accounts/leave", account_id=account.account_id)
    assert page.status == 303
    assert browser.get("/projects").path == "/accounts"
    assert browser.get("/").path == "/accounts"


def test_an_account_does_not_collect_keys(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.pages.welcome.views.PAGE_KEYS", 2)
    owner = browser_of(make_account(app))
    found = [post(owner, "/welcome/key").status for _ in range(3)]
    assert found[-1] == 409
    assert 200 in found


def test_a_form_that_is_sent_again_makes_no_other_key(app: Flask) -> None:
    account = make_account(app)
    owner = browser_of(account)
    fields = owner.get("/welcome").form("/welcome/key#key").fields
    assert owner.send("/welcome/key", **fields).status == 200
    page = owner.send("/welcome/key", **fields)
    assert (page.status, page.response.headers["Location"]) == (303, "/api-keys")
