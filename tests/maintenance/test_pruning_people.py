"""Pruning mails, sign-ups, links, sessions and tokens: those that are good for nothing anymore."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, func, insert, select

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import (
    Mail,
    MailedLink,
    OAuthApplication,
    OAuthAuthorization,
    OAuthConsent,
    OAuthToken,
    Session,
    SignInFailure,
    SignUp,
)
from app.oauth.jobs import delete_tokens
from app.policy.mails import MAILS_KEPT_FOR
from app.policy.people import SESSION_IDLE, SESSION_LIFE
from app.values import clock
from app.values.ids import new_id
from tests.maintenance.conftest import prune
from tests.make import Client, make_account

pytestmark = pytest.mark.both


MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
_numbers = itertools.count(1)


@pytest.fixture
def person(app: Flask) -> Client:
    """A person and an account, and nothing that other tests have left to prune."""
    made = make_account(app)
    with app.app_context(), transaction():
        for model in (Mail, MailedLink, Session, SignInFailure, SignUp, OAuthApplication):
            db.session.execute(delete(model))
    return made


def _hash() -> str:
    return f"{next(_numbers):064}"


def _add(client: Client, model: Any, **values: Any) -> None:
    with client.app.app_context(), transaction():
        db.session.execute(insert(model).values(values))


def _left(client: Client, model: Any) -> int:
    """Prune, and count what is left."""
    with client.app.app_context():
        prune()
        delete_tokens()
        return db.session.scalars(select(func.count()).select_from(model)).one()


def _mail(client: Client, age: timedelta, **values: Any) -> None:
    common = {"kind": "test", "recipient": "jo@example.org", "attempts": 1}
    moment = clock.now() - age
    own = {"id": new_id("mail"), "cause": _hash(), "created_at": moment}
    _add(client, Mail, **common, **own, turn_of="", **values)


def test_mails_that_are_done_are_kept_for_a_month(person: Client) -> None:
    month, moment = MAILS_KEPT_FOR, clock.now()
    _mail(person, month - MINUTE, sent_at=moment)
    _mail(person, month + MINUTE, sent_at=moment)
    _mail(person, month - MINUTE, error="the mail server refused the recipient (550)")
    _mail(person, month + MINUTE, error="the mail server refused the recipient (550)")
    _mail(person, month + MINUTE)  # nobody was to get it
    assert _left(person, Mail) == 2


def test_mails_that_wait_are_kept(person: Client) -> None:
    _mail(person, MAILS_KEPT_FOR * 9, sealed="x", due_at=clock.now() + DAY)
    _mail(person, MAILS_KEPT_FOR * 9, sealed="x", due_at=clock.now() - DAY)
    assert _left(person, Mail) == 2


def test_sign_ups_and_links_go_when_they_expire(person: Client) -> None:
    moment = clock.now()
    for expired in (-MINUTE, MINUTE):
        times = {"created_at": moment - DAY, "expires_at": moment - expired}
        names = ("email", "name", "password_hash", "account_name", "account_slug")
        _add(person, SignUp, token_hash=_hash(), **dict.fromkeys(names, _hash()[-9:]), **times)
        own = {"purpose": "verify_email", "user_id": person.owner_id}
        _add(person, MailedLink, token_hash=_hash(), **own, **times)
    assert _left(person, SignUp) == _left(person, MailedLink) == 1


def test_wrong_passwords_are_forgotten(person: Client) -> None:
    for age in (DAY - MINUTE, DAY + MINUTE):
        _add(person, SignInFailure, key=_hash(), failures=1, began_at=clock.now() - age)
    assert _left(person, SignInFailure) == 1


def test_sessions_go_when_they_are_over(person: Client) -> None:
    moment = clock.now()
    ended, unused_for_long = new_id("session"), new_id("session")
    for session_id, age, unused in (
        (new_id("session"), MINUTE, MINUTE),
        (new_id("session"), SESSION_LIFE - MINUTE, SESSION_IDLE - MINUTE),
        (ended, SESSION_LIFE + MINUTE, MINUTE),
        (unused_for_long, SESSION_LIFE - MINUTE, SESSION_IDLE + MINUTE),
    ):
        own = {"id": session_id, "token_hash": _hash(), "user_id": person.owner_id}
        times = {"created_at": moment - age, "last_used_at": moment - unused}
        _add(person, Session, **own, **times, address="::1", browser="x")
    assert _left(person, Session) == 2
    with person.app.app_context():
        left = set(db.session.scalars(select(Session.id)))
    assert not left & {ended, unused_for_long}


def _grant(client: Client, ends_at: datetime) -> str:
    """The id of an authorization."""
    application, grant, moment = new_id("application"), new_id("authorization"), clock.now()
    key = {
        "account_id": client.account_id,
        "user_id": client.owner_id,
        "application_id": application,
    }
    both = {"scopes": [], "created_at": moment}
    _add(
        client,
        OAuthApplication,
        id=application,
        account_id=client.account_id,
        name="x",
        redirect_uris=[],
        updated_at=moment,
        **both,
    )
    _add(client, OAuthConsent, **key, **both, redirect_uris=[], updated_at=moment)
    _add(
        client,
        OAuthAuthorization,
        **key,
        **both,
        id=grant,
        code_hash=_hash(),
        redirect_uri="x",
        code_expires_at=moment,
        ends_at=ends_at,
    )
    return grant


def _token(
    client: Client, grant: str, kind: str, created_at: datetime, expires_at: datetime
) -> None:
    own = {"token_hash": _hash(), "authorization_id": grant, "kind": kind, "scopes": []}
    _add(client, OAuthToken, **own, created_at=created_at, expires_at=expires_at)


def test_grants_go_with_all_their_tokens(person: Client) -> None:
    moment = clock.now()
    for ended in (DAY - MINUTE, DAY + MINUTE):
        _token(person, _grant(person, moment - ended), "refresh", moment, moment + DAY)
    assert _left(person, OAuthAuthorization) == 1
    assert _left(person, OAuthToken) == 1
    assert _left(person, OAuthConsent) == 2


def test_tokens_go_a_day_after_they_expire(person: Client) -> None:
    moment = clock.now()
    grant = _grant(person, moment + DAY)
    for expired in (DAY - MINUTE, DAY + MINUTE):
        _token(person, grant, "access", moment - DAY * 2, moment - expired)
    assert _left(person, OAuthToken) == 1
    assert _left(person, OAuthAuthorization) == 1
