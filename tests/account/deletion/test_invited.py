"""People who were invited and never signed up are not kept."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.account.deletion.contents import delete_account
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import User
from tests.make import Client, make_account, make_invited, make_member


def end(client: Client, member_id: str, how: str) -> None:
    """End an invitation."""
    if how == "withdrawn":
        assert client.delete(f"/v1/account/members/{member_id}").status_code == 204
        return
    with client.app.app_context(), transaction():
        for _ in delete_account(client.account_id):
            db.session.commit()


@pytest.fixture
def own(app: Flask) -> Client:
    return make_account(app)


how = pytest.mark.parametrize("how", ["withdrawn", "account deleted"])


def is_kept(client: Client, user_id: str) -> bool:
    with client.app.app_context():
        person = db.session.get(User, user_id)
        return person is not None


@how
def test_who_never_signed_up_is_forgotten(own: Client, how: str) -> None:
    invited = make_invited(own)
    assert is_kept(own, invited["id"])
    end(own, invited["id"], how)
    assert not is_kept(own, invited["id"])


@how
def test_who_is_invited_to_another_account_stays(own: Client, stranger: Client, how: str) -> None:
    invited = make_invited(own)
    other = make_invited(stranger, email=invited["email"])
    assert other["id"] == invited["id"]
    end(own, invited["id"], how)
    assert is_kept(own, invited["id"])
    end(stranger, invited["id"], "withdrawn")
    assert not is_kept(own, invited["id"])


@how
def test_who_has_signed_up_stays(own: Client, stranger: Client, how: str) -> None:
    member = make_member(stranger, "editor")
    invited = make_invited(own, email=member.email)
    stranger.delete(f"/v1/account/members/{member.id}")
    end(own, invited["id"], how)
    assert is_kept(own, member.id)


@pytest.mark.both
@how
def test_who_is_known_otherwise_stays(own: Client, how: str) -> None:
    invited = {
        column: make_invited(own)["id"] for column in ("email_verified_at", "operator_since")
    }
    for column, user_id in invited.items():
        _set(own.app, user_id, **{column: User.created_at})
    if how == "withdrawn":
        for user_id in invited.values():
            end(own, user_id, how)
    else:
        end(own, "", how)
    assert all(is_kept(own, user_id) for user_id in invited.values())


def _set(app: Flask, user_id: str, **values: Any) -> None:
    with app.app_context(), transaction():
        db.session.execute(update(User).where(User.id == user_id).values(**values))
