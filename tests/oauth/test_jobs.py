"""Stored token responses are wiped, even if the family is never used again; tokens of revoked
consents are deleted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.db.extensions import db
from app.models import OAuthAuthorization, OAuthToken
from app.oauth import jobs
from app.oauth.consents import revoke_consent
from app.oauth.issuing import wipe_expired_successors
from app.policy.oauth import REFRESH_GRACE
from app.security import tokens
from app.values import clock
from tests.jobs.due import run_if_due
from tests.make import Application, Client
from tests.make.oauth import grant_tokens, make_application, refresh
from tests.oauth.support import api_status, assert_error, tokens_of

pytestmark = pytest.mark.both

_KINDS = ("access_token", "refresh_token")
_SCOPES = ("projects:read", "offline_access")


def test_stored_responses_are_wiped_after_the_grace(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In batches. The tokens themselves stay, so that their reuse is detected."""
    application = make_application(client)
    old = [
        grant_tokens(client.app, application, client.owner_id, client.account_id, _SCOPES)
        for _ in range(3)
    ]
    given = [
        refresh(client.app, application, response["refresh_token"]).json["refresh_token"]
        for response in old
    ]
    now = clock.now()
    monkeypatch.setattr(jobs, "BATCH_ROWS", 1)
    for elapsed, left in ((REFRESH_GRACE / 2, 3), (REFRESH_GRACE + timedelta(seconds=1), 0)):
        monkeypatch.setattr(clock, "now", lambda elapsed=elapsed: now + elapsed)
        with client.app.app_context():
            if not left:
                assert wipe_expired_successors(2) == 2
                db.session.rollback()
            run_if_due(jobs.wipe_successors)
            assert _stored(client.account_id) == left
    assert refresh(client.app, application, given[0]).status_code == 200
    again = refresh(client.app, application, old[0]["refresh_token"])
    assert again.json["error"] == "invalid_grant"


def test_tokens_end_with_their_consent_and_are_deleted_later(
    client: Client, application: Application
) -> None:
    """Revoking is as quick however many there are."""
    kept, ended = tokens_of(client, make_application(client)), tokens_of(client, application)
    after = refresh(client.app, application, ended["refresh_token"]).json
    own = {tokens.hash_token(each[kind]) for each in (ended, after) for kind in _KINDS}
    with client.app.app_context():
        assert revoke_consent(client.owner_id, client.account_id, application.id)
        db.session.commit()
        assert _found(own) == 4
    tokens_of(client, application)  # a new consent does not bring them back
    assert api_status(client, after) == 401
    assert_error(refresh(client.app, application, after["refresh_token"]), "invalid_grant")
    with client.app.app_context():
        jobs.delete_tokens()
        assert _found(own) == 0
    assert api_status(client, kept) == 200


def _found(token_hashes: set[str]) -> int:
    statement = select(func.count()).where(OAuthToken.token_hash.in_(token_hashes))
    number = db.session.scalars(statement).one()
    db.session.rollback()
    return number


def _stored(account_id: str) -> int:
    """How many token responses are stored for an account."""
    statement = (
        select(func.count())
        .select_from(OAuthToken)
        .join(OAuthAuthorization, OAuthAuthorization.id == OAuthToken.authorization_id)
        .where(
            OAuthAuthorization.account_id == account_id, OAuthToken.sealed_successor.is_not(None)
        )
    )
    number = db.session.scalars(statement).one()
    db.session.rollback()
    return number
