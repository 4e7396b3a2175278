"""Stored token responses are wiped, even if the family is never used again."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.db.extensions import db
from app.models import OAuthToken
from app.oauth.jobs import wipe_successors
from app.policy.oauth import REFRESH_GRACE
from app.security.tokens import hash_token
from app.values import clock
from tests.make import Client
from tests.make.oauth import grant_tokens, make_application, refresh

pytestmark = pytest.mark.both


def test_a_stored_response_is_wiped_after_the_grace(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token itself stays, so that its reuse is detected."""
    application = make_application(client)
    scopes = ("projects:read", "offline_access")
    response = grant_tokens(client.app, application, client.owner_id, client.account_id, scopes)
    refresh(client.app, application, response["refresh_token"])
    used = OAuthToken.token_hash == hash_token(response["refresh_token"])
    moment = clock.now()
    for elapsed, is_stored in ((REFRESH_GRACE / 2, True), (REFRESH_GRACE * 2, False)):
        monkeypatch.setattr(clock, "now", lambda elapsed=elapsed: moment + elapsed)
        with client.app.app_context():
            wipe_successors()
            sealed = db.session.scalars(select(OAuthToken.sealed_successor).where(used)).one()
            db.session.rollback()
        assert (sealed is not None) is is_stored
