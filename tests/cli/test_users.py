"""``bin/canopy user``."""

from __future__ import annotations

import json

from flask import Flask

from app.db.transactions import transaction
from app.people.single_sign_on.identities import add_identity
from tests.cli.conftest import Run
from tests.make import (
    Client,
    mails_to,
    make_invited,
    make_member,
    new_email,
    sign_in,
    sign_up,
    text_of,
)
from tests.make.browser import Browser
from tests.people.second_factor.support import person_with_app

OTHER = "seven wet beech leaves"


def test_list_has_everybody_with_their_accounts(run: Run, client: Client) -> None:
    member = make_member(client, "editor")
    invited = make_invited(client)
    account = client.get("/v1/account").json["data"]
    people = {each["id"]: each for each in json.loads(run("user", "list", "--json").stdout)}
    assert people[member.id]["email"] == member.email
    assert people[member.id]["accounts"] == [
        {"id": account["id"], "slug": account["slug"], "name": account["name"], "role": "editor"}
    ]
    assert people[invited["id"]]["accounts"] == []
    assert not people[invited["id"]]["has_password"]
    row = next(line for line in run("user", "list").stdout.splitlines() if member.id in line)
    assert account["slug"] in row


def test_show_takes_an_id_or_an_address(app: Flask, run: Run) -> None:
    email = new_email()
    sign_up(app, email, name="Jo Hazel")
    by_email = json.loads(run("user", "show", email.upper(), "--json").stdout)
    by_id = json.loads(run("user", "show", by_email["id"], "--json").stdout)
    assert by_email == by_id
    assert (by_id["name"], by_id["email_verified"], by_id["has_password"]) == (
        "Jo Hazel", True, True,
    )  # fmt: skip
    assert [account["role"] for account in by_id["accounts"]] == ["owner"]
    assert len(by_id["sessions"]) == 1
    text = run("user", "show", email).stdout
    for word in ("Jo Hazel", "Hazel Woods", "owner", "Firefox"):
        assert word in text


def test_an_unknown_person_is_named(run: Run) -> None:
    for reference in ("nobody@example.org", "user_01k9zq3mgse2j7tbyw5c4r8nhd", "\x00"):
        result = run("user", "show", reference)
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"There is no person with the id or email address {reference!r}" in result.stderr


def test_a_new_password_ends_the_sessions(app: Flask, run: Run) -> None:
    email = new_email()
    browser = sign_up(app, email)
    result = run("user", "set-password", email, input=f"{OTHER}\n")
    assert result.exit_code == 0, result.output
    assert OTHER not in result.output
    assert browser.get("/accounts", follow=False).status == 303  # to the sign-in
    sign_in(app, email, OTHER)
    notice = text_of(mails_to(app, email)[-1])
    assert "by the operator of this instance" in notice
    assert "None" not in notice


def test_somebody_is_signed_out_everywhere(app: Flask, run: Run) -> None:
    email = new_email()
    browser = sign_up(app, email)
    sign_in(app, email)
    done = json.loads(run("user", "sign-out", email, "--json").stdout)
    assert (done["email"], done["ended_sessions"]) == (email, 2)
    assert browser.get("/accounts", follow=False).status == 303  # to the sign-in
    assert json.loads(run("user", "show", email, "--json").stdout)["sessions"] == []
    sign_in(app, email)


def test_a_lost_second_factor_is_reset(app: Flask, run: Run) -> None:
    email = new_email()
    sign_up(app, email)
    assert "no second factor" in run("user", "reset-second-factor", email).stderr
    person_with_app(app, email)
    done = json.loads(run("user", "reset-second-factor", email, "--json").stdout)
    assert (done["email"], done["reset"]) == (email, True)
    sign_in(app, email)
    assert "reset your second factor" in text_of(mails_to(app, email)[-1])


def test_show_has_linked_sign_ins(app: Flask, run: Run) -> None:
    email = new_email()
    sign_up(app, email)
    person = json.loads(run("user", "show", email, "--json").stdout)
    assert person["sign_ins"] == []
    with app.app_context(), transaction():
        add_identity(person["id"], issuer="https://id.example", subject="7", email="jo@id.example")
    (found,) = json.loads(run("user", "show", email, "--json").stdout)["sign_ins"]
    assert (found["issuer"], found["email"]) == ("https://id.example", "jo@id.example")
    assert "jo@id.example" in run("user", "show", email).stdout


def test_a_password_can_be_made_up(app: Flask, run: Run) -> None:
    email = new_email()
    sign_up(app, email)
    result = run("user", "set-password", email, "--generate", "--json")
    made = json.loads(result.stdout)
    assert list(made) == ["id", "email", "changed", "password"]
    sign_in(app, email, made["password"])


def test_a_password_is_held_to_the_rules_of_the_pages(app: Flask, run: Run) -> None:
    email = new_email()
    sign_up(app, email)
    short = run("user", "set-password", email, input="short\n")
    assert (short.exit_code, short.stdout) == (1, "")
    assert "Error: password: Must have 10 to 128 characters." in short.stderr
    sign_in(app, email)


def test_whoever_was_locked_out_can_sign_in_again(app: Flask, run: Run) -> None:
    email = new_email()
    sign_up(app, email)
    browser = Browser(app)
    browser.get("/login")
    for _ in range(11):
        page = browser.submit(email=email, password="wrong wrong wrong")
    assert page.status == 429
    assert run("user", "set-password", email, input=f"{OTHER}\n").exit_code == 0
    sign_in(app, email, OTHER)
