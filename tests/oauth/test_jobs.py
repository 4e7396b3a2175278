"""What is kept for a moment only is wiped, also where nobody comes again."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.db.extensions import db
from app.models import OAuthToken
from app.oauth.jobs import forget_answers
from app.policy.oauth import REFRESH_GRACE
from app.security.tokens import hash_token
from app.values import clock
from tests.make import Client
from tests.make.oauth import grant_tokens, make_application, refresh


def test_an_answer_to_a_refresh_is_wiped_when_it_is_not_given_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the token stays, so that its theft is noticed."""
    application = make_application(client)
    scopes = ("projects:read", "offline_access")
    answer = grant_tokens(client.app, application, client.owner_id, client.account_id, scopes)
    refresh(client.app, application, answer["refresh_token"])
    used = OAuthToken.token_hash == hash_token(answer["refresh_token"])
    moment = clock.now()
    for later, kept in ((REFRESH_GRACE / 2, True), (REFRESH_GRACE * 2, False)):
        monkeypatch.setattr(clock, "now", lambda later=later: moment + later)
        with client.app.app_context():
            forget_answers()
            sealed = db.session.scalars(select(OAuthToken.sealed_successor).where(used)).one()
            db.session.rollback()
        assert (sealed is not None) is kept
