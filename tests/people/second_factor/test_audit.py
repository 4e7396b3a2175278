"""What stands in the audit log about second factors."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.models import AuditEntry, User
from app.values.strict_json import loads
from tests.make import Client, make_member, signed_in
from tests.oauth.support import browser_of
from tests.pages.support import post, signed_in_browser
from tests.people.second_factor.support import (
    OWN,
    Later,
    SoftPasskey,
    begin,
    give,
    give_password,
    person_with_app,
    turn_on,
)
from tests.people.second_factor.test_own_passkeys import ids_of
from tests.people.second_factor.test_passkeys import KEYS, add


def entries(app: Flask, email: str) -> list[dict[str, Any]]:
    """The entries about a person, the oldest first."""
    with app.app_context():
        user_id = db.session.scalars(select(User.id).where(User.email == email)).one()
        own = select(AuditEntry.body).where(AuditEntry.target_id == user_id)
        bodies = list(db.session.scalars(own.order_by(AuditEntry.id)))
    return [loads(body.encode()) for body in bodies]


def actions(app: Flask, email: str) -> list[str]:
    return [each["action"] for each in entries(app, email)]


def test_turning_it_on_and_off_and_what_is_between(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    before = len(entries(app, email))
    turn_on(browser)
    add(browser, SoftPasskey(), "Blue key")
    browser.get(OWN)
    browser.submit(f"{OWN}/recovery-codes")
    browser.get(OWN)
    browser.submit(f"{KEYS}/{ids_of(app, email)[0]}/remove")
    browser.get(OWN)
    browser.submit(f"{OWN}/off")
    found = entries(app, email)[before:]
    assert [each["action"] for each in found] == [
        "person.second_factor_turned_on",
        "person.passkey_added",
        "person.recovery_codes_made",
        "person.passkey_removed",
        "person.second_factor_turned_off",
    ]
    assert found[1]["changes"] == {"passkey": {"from": None, "to": "Blue key"}}
    assert {each["actor"]["label"] for each in found} == {email}


def test_a_password_alone_is_no_sign_in(app: Flask, email: str, later: Later) -> None:
    factor = person_with_app(app, email)
    later.move()
    before = len(entries(app, email))
    browser = give_password(app, email)
    assert len(entries(app, email)) == before
    give(browser, value=factor.wrong())
    give(browser, value=factor.code())
    assert actions(app, email)[before:] == ["person.second_factor_refused", "person.signed_in"]
    assert entries(app, email)[before]["outcome"] == "refused"


def test_the_use_of_a_recovery_code(app: Flask, email: str) -> None:
    factor = person_with_app(app, email)
    before = len(entries(app, email))
    give(begin(app, email), "recovery_code", factor.codes[0])
    found = entries(app, email)[before:]
    assert [each["action"] for each in found] == ["person.recovery_code_used", "person.signed_in"]
    assert found[0]["changes"] == {"recovery_codes": {"from": 10, "to": 9}}


@pytest.mark.both
def test_a_reset_stands_in_the_log_of_the_owners_account(client: Client) -> None:
    member = make_member(client, "editor")
    turn_on(browser_of(client, member.id))
    owner = signed_in_browser(client, client.owner_id)
    post(owner, f"/members/{member.id}/second-factor/reset")
    entry = entries(client.app, member.email)[-1]
    assert entry["action"] == "person.second_factor_reset"
    assert (entry["account_id"], entry["actor"]["id"]) == (client.account_id, client.owner_id)


@pytest.mark.both
def test_a_requirement_and_its_end(client: Client) -> None:
    browser = browser_of(client)
    turn_on(browser)
    for sent in ({"required": "yes", "grace_days": "3"}, {"required": "no"}):
        browser.get("/settings")
        browser.submit("/settings/second-factor", **sent)
    with client.app.app_context():
        own = select(AuditEntry.body).where(
            AuditEntry.account_id == client.account_id,
            AuditEntry.action.startswith("account.second_factor_"),
        )
        bodies = list(db.session.scalars(own.order_by(AuditEntry.id)))
    found = [loads(body.encode()) for body in bodies]
    assert [each["action"].partition(".")[2] for each in found] == [
        "second_factor_required",
        "second_factor_not_required",
    ]
    changes = [each["changes"]["second_factor_grace_days"] for each in found]
    assert changes == [{"from": None, "to": 3}, {"from": 3, "to": None}]
