"""Seats of the plan (docs/members.md, "Inviting")."""

from __future__ import annotations

import pytest
from flask import Flask

from app.db.extensions import db
from app.models import User
from app.values.folding import fold_text
from tests.account.members.support import PATH, count_members, invite
from tests.make import (
    Client,
    event_types,
    events,
    mails_to,
    make_account,
    make_invited,
    make_member,
    new_email,
    put_on,
)


@pytest.fixture
def free(app: Flask) -> Client:
    """An account on the plan free, with 3 seats."""
    return make_account(app, plan="free")


def _known(client: Client, email: str) -> bool:
    with client.app.app_context():
        found = db.session.scalars(
            db.select(User).where(User.email_key == fold_text(email))
        ).first()
        return found is not None


def test_seats_are_limited_by_the_plan(free: Client) -> None:
    make_member(free, "viewer")
    make_invited(free)
    refused = new_email()
    response = invite(free, refused)
    assert response.status_code == 403
    assert response.json["error"]["code"] == "FORBIDDEN"
    (detail,) = response.json["error"]["details"]
    assert (detail["field"], detail["code"]) == ("", "plan_limit")
    assert detail["message"] == "The account has 3 of 3 members, including invited people."
    assert count_members(free) == 3
    assert not _known(free, refused)
    assert mails_to(free.app, refused) == []
    assert event_types(free)[-1] != "member.invited"


def test_an_invitation_can_be_repeated_when_the_plan_is_full(free: Client) -> None:
    make_member(free, "viewer")
    email = make_invited(free)["email"]
    assert invite(free, email).status_code == 201
    assert count_members(free) == 3


def test_a_seat_is_free_after_a_removal(free: Client) -> None:
    invited, joined = make_invited(free), make_member(free, "viewer")
    for member_id in (invited["id"], joined.id):
        assert invite(free, new_email()).status_code == 403
        assert free.delete(f"{PATH}/{member_id}").status_code == 204
        assert invite(free, new_email()).status_code == 201


def test_the_current_plan_decides(free: Client) -> None:
    make_invited(free)
    make_invited(free)
    put_on(free, "pro")
    assert invite(free, new_email()).status_code == 201


def test_thresholds_are_reported_once(app: Flask) -> None:
    """Of 25 seats 19 are 76 %, 23 are 92 %."""
    pro = make_account(app, plan="pro")
    for _ in range(24):
        make_invited(pro)
    found = [event for event in events(pro) if event["type"].startswith("usage.")]
    assert [event["type"] for event in found] == ["usage.threshold_reached"] * 3
    assert [event["data"]["threshold"] for event in found] == [75, 90, 100]
    assert [event["data"]["current"] for event in found] == [19, 23, 25]
    assert {event["data"]["metric"] for event in found} == {"members"}
    types = event_types(pro)
    assert types[types.index("usage.threshold_reached") - 1] == "member.invited"
    assert invite(pro, new_email()).status_code == 403
    assert event_types(pro) == types
