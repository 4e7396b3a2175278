"""The number of invitations of an account in 24 hours (docs/members.md, "Inviting")."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from flask import Flask

from app.account.members import invitations
from app.account.members.invitations import invite_member
from app.db.transactions import transaction
from app.values import clock
from tests.account.members.support import PATH, invite
from tests.make import Client, mails_to, make_account, new_email, operator_of, together


def _invite_and_withdraw(client: Client, times: int) -> None:
    """Send invitations to strangers, so that no seat is taken in the end."""
    for _ in range(times):
        member_id = invite(client, new_email()).json["data"]["id"]
        assert client.delete(f"{PATH}/{member_id}").status_code == 204


def limit(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let each account send so many."""
    monkeypatch.setattr(invitations, "INVITATIONS_A_DAY", (number, number))


def test_a_free_account_cannot_mail_any_number_of_strangers(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, 4)
    free, now = make_account(app, plan="free"), clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    _invite_and_withdraw(free, 4)
    again = clock.format_time(now + timedelta(days=1))
    refused = new_email()
    error = invite(free, refused)
    assert error.status_code == 403
    assert error.json["error"]["message"] == (
        "An account on the plan free can send 4 invitations in 24 hours. It can send the next one "
        f"at {again}."
    )
    (detail,) = error.json["error"]["details"]
    assert (detail["field"], detail["code"]) == ("", "plan_limit")
    assert again in detail["message"]
    assert mails_to(app, refused) == []
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(days=1))
    assert invite(free, new_email()).status_code == 201


def test_an_invitation_that_is_sent_again_counts(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, 4)
    free = make_account(app, plan="free")
    email = new_email()
    for _ in range(4):
        assert invite(free, email).status_code == 201
    assert invite(free, email).status_code == 403


def test_a_plan_with_more_seats_can_fill_them_in_a_day(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invitations, "INVITATIONS_A_DAY", (2, 6))
    free, enterprise = make_account(app, plan="free"), make_account(app, plan="enterprise")
    for client, number in ((free, 3), (enterprise, 6)):  # it has 3 seats
        _invite_and_withdraw(client, number)
        assert invite(client, new_email()).status_code == 403


def test_other_accounts_and_the_operator_are_not_limited_by_it(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, 4)
    free = make_account(app, plan="free")
    _invite_and_withdraw(free, 4)
    assert invite(make_account(app, plan="free"), new_email()).status_code == 201
    with app.app_context(), transaction():
        assert invite_member(operator_of(free), email=new_email(), role="viewer")


@pytest.mark.both
def test_concurrent_invitations_do_not_exceed_it(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, 3)
    client = make_account(app)
    emails = [new_email() for _ in range(6)]
    calls = [partial(invite, client, email) for email in emails]
    found = [response.status_code for response in together(*calls)]
    assert sorted(found) == [201] * 3 + [403] * 3
