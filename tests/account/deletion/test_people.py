"""A person deletes themselves, or the operator does."""

from __future__ import annotations

import json

import pytest
from flask import Flask

from app.policy.audit import INSTANCE
from tests.account.deletion.support import (
    PAGE,
    PERSON_PAGE,
    account_with,
    make_due,
    run_job,
    schedule,
)
from tests.account.deletion.traces import keys_naming, tables_naming
from tests.cli.conftest import Run
from tests.cli.conftest import core as core
from tests.cli.conftest import run as run
from tests.make import Client, make_invited, make_key, make_member, make_project, new_email, sign_up
from tests.make.audit import audit_entries, new_entries
from tests.make.mails import mails_to, text_of
from tests.oauth.support import browser_of as browser_with_password
from tests.pages.support import signed_in_browser

# Where the id of a deleted person stays: what an account knows of what was done in it.
KEPT = {"audit_entries", "boundary_entries", "events"}


def members(client: Client) -> int:
    count: int = client.get("/v1/account").json["data"]["usage"]["members"]
    return count


def test_a_member_deletes_themselves(app: Flask, client: Client) -> None:
    member = make_member(client, "editor")
    before = members(client)
    browser = browser_with_password(client, member.id)
    browser.get("/projects")
    page = browser.get(PERSON_PAGE)
    assert "You leave" in page.text
    with new_entries(client, INSTANCE) as found:
        page = browser.submit(PERSON_PAGE, confirmation=member.email)
    assert "Your profile has been deleted" in page.text
    assert members(client) == before - 1
    assert [(each["action"], each["account_id"]) for each in found] == [
        ("member.removed", client.account_id),
        ("person.deleted", INSTANCE),
    ]
    assert {each["actor"]["id"] for each in found} == {member.id}
    assert tables_naming(app, member.id) <= KEPT
    assert keys_naming(app, member.id) == []
    assert browser.get("/profile").path.startswith("/login")
    assert "Your profile on" in text_of(mails_to(app, member.email)[-1])


def test_their_keys_stop_working_and_go(app: Flask, client: Client) -> None:
    member = make_member(client, "admin")
    key = make_key(client, created_by=member.id)
    make_project(key)
    browser = browser_with_password(client, member.id)
    page = browser.get(PERSON_PAGE)
    assert "stops working" in page.text
    browser.submit(PERSON_PAGE, confirmation=member.email)
    assert key.get("/v1/projects").status_code == 401
    assert tables_naming(app, member.id) <= KEPT
    assert client.get("/v1/projects").status_code == 200


def test_the_only_owner_cannot(client: Client) -> None:
    browser = signed_in_browser(client, client.owner_id)
    page = browser.get(PERSON_PAGE)
    assert "You are the only owner of" in page.text
    assert not [form for form in page.forms if form.action == PERSON_PAGE]


def test_the_only_owner_who_posts_all_the_same_is_refused(app: Flask, client: Client) -> None:
    member = make_member(client, "owner")
    browser = browser_with_password(client, member.id)
    browser.get(PERSON_PAGE)
    client.delete(f"/v1/account/members/{client.owner_id}")
    page = browser.submit(PERSON_PAGE, confirmation=member.email)
    assert page.status == 409
    assert "only owner" in page.text
    assert "users" in tables_naming(app, member.id)


def test_the_only_owner_can_once_the_account_is_gone(app: Flask) -> None:
    email = new_email()
    browser = sign_up(app, email)
    page = browser.get(PAGE)
    words = page.text.split()
    slug = words[words.index("Type") + 1]
    schedule(browser, slug)
    page = browser.get(PERSON_PAGE)
    assert "you can delete your profile after that" in page.text
    assert "make another member an owner" not in page.text
    make_due(app, account_with(app, slug).id)
    run_job(app)
    browser.get(PERSON_PAGE)
    page = browser.submit(PERSON_PAGE, confirmation=email.upper())
    assert "Your profile has been deleted" in page.text, page.text
    assert tables_naming(app, email) <= KEPT | {"mails"}  # the mail that says so


@pytest.mark.both
def test_an_invitation_goes_too(app: Flask, client: Client, run: Run) -> None:
    invited = make_invited(client)
    before = members(client)
    result = run("user", "delete", invited["email"], "--yes", "--json")
    assert json.loads(result.stdout)["deleted"] is True
    assert members(client) == before - 1
    assert "memberships" not in tables_naming(app, invited["id"])


def test_the_operator_deletes_somebody(app: Flask, client: Client, run: Run) -> None:
    member = make_member(client, "viewer")
    asked = run("user", "delete", member.email, input="n\n")
    assert asked.exit_code == 1
    assert f"Delete {member.email}, who leaves" in asked.stderr
    with new_entries(client, INSTANCE) as found:
        assert run("user", "delete", member.email, "--yes").exit_code == 0
    assert {each["actor"]["type"] for each in found} == {"operator"}
    assert len(found) == 2
    assert tables_naming(app, member.id) <= KEPT


@pytest.mark.both
def test_the_command_says_who_else_is_needed(client: Client, run: Run) -> None:
    result = run("user", "delete", client.owner_id, "--yes")
    assert result.exit_code == 1
    assert "is the only owner of" in result.stderr
    assert audit_entries(client)[-1]["action"] != "member.removed"


def test_who_has_nothing_to_confirm_it_with_signs_in_again(app: Flask, client: Client) -> None:
    member = make_member(client, "viewer")
    browser = signed_in_browser(client, member.id)  # at some time, at a provider
    browser.get(PERSON_PAGE)
    page = browser.submit(PERSON_PAGE, confirmation=member.email)
    assert (page.status, page.title) == (200, "Sign in again")
    assert "repeat the step within 10 minutes." in page.text
    assert "users" in tables_naming(app, member.id)
