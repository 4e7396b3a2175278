"""Keys that expire: until when they work, and who is told before."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import update

from app.account.credentials.jobs import mail_expiring_keys
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Credential
from app.policy.request_limits import EXPIRY_MAILED_DAYS
from app.values import clock
from tests.make import Client, make_key, make_service_token, revoke
from tests.make.mails import mails_to

_DAY = timedelta(days=1)
_SOON = EXPIRY_MAILED_DAYS * _DAY


def _key(client: Client, life: timedelta, age: timedelta = timedelta()) -> Client:
    """A key with so long a life, made so long ago."""
    key = make_key(client, expires_at=clock.now() + life)
    moment = clock.now() - age
    with client.app.app_context(), transaction():
        db.session.execute(
            update(Credential)
            .where(Credential.id == key.credential_id)
            .values(created_at=moment, expires_at=moment + life)
        )
    return key


def _told(client: Client) -> list[str]:
    """The subjects of the mails about it that the owner has after the job."""
    with client.app.app_context():
        mail_expiring_keys()
    subjects = [str(mail["Subject"]) for mail in mails_to(client.app, _owner(client))]
    return [subject for subject in subjects if "expires" in subject]


def _owner(client: Client) -> str:
    email: str = client.get("/v1/account/members").json["data"][0]["email"]
    return email


def test_a_key_works_until_it_expires(client: Client) -> None:
    key = _key(client, _DAY)
    verified = key.get("/v1/auth/verify")
    assert verified.status_code == 200
    assert verified.json["expires_at"] > clock.format_time(clock.now())
    over = _key(client, _DAY, age=_DAY)
    unknown = Client(client.app, client.account_id, client.owner_id, f"{client.token}x")
    assert over.get("/v1/projects").status_code == unknown.get("/v1/projects").status_code == 401
    revoked = make_key(client)
    revoke(revoked)
    messages = {each.get("/v1/projects").json["error"]["message"] for each in (over, revoked)}
    assert len(messages) == 1


def test_a_service_token_does_not_expire(client: Client) -> None:
    token = make_service_token(client)
    assert token.get("/v1/auth/verify").json["expires_at"] is None


@pytest.mark.both
def test_whoever_made_a_key_is_told_once_a_week_before(client: Client) -> None:
    _key(client, 30 * _DAY, age=30 * _DAY - _SOON + timedelta(hours=1))
    assert len(_told(client)) == 1
    assert len(_told(client)) == 1


def test_nobody_is_told_of_others(client: Client) -> None:
    for life, age in (
        (30 * _DAY, 10 * _DAY),  # ends in 20 days
        (5 * _DAY, _DAY),  # never had a week
        (30 * _DAY, 31 * _DAY),  # is over
    ):
        _key(client, life, age)
    assert _told(client) == []


def test_nobody_is_told_of_a_revoked_key(client: Client) -> None:
    key = _key(client, 30 * _DAY, age=25 * _DAY)
    revoke(key)
    assert _told(client) == []


def test_the_address_of_the_last_use_is_noted(app: Flask, client: Client) -> None:
    key = make_key(client)
    key.get("/v1/projects", environ_overrides={"REMOTE_ADDR": "2001:db8::7"})
    with app.app_context():
        found = db.session.get_one(Credential, key.credential_id)
        assert found.last_used_address == "2001:db8::7"
