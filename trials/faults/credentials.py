"""People and programs with credentials of all kinds, and what they may do whatever the clock
shows."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import Flask
from sqlalchemy import update

from app.auth.sessions import start_session
from app.db.extensions import db
from app.models import Credential, OAuthToken
from app.security.tokens import hash_token
from app.values import clock
from tests.make import Client, grant_tokens, make_account, make_application, make_key

ALWAYS, NEVER = frozenset({200}), frozenset({401})


@dataclass(frozen=True)
class Holder:
    """Somebody with a credential, and the statuses that a request of theirs may have."""

    name: str
    path: str
    headers: dict[str, str]
    expected: frozenset[int]
    expected_ahead: frozenset[int]  # while the clock is ahead by an hour or more

    def wrong(self, port: int, *, is_ahead: bool) -> list[str]:
        """What is wrong with the response to a request."""
        status, _ = fetch(port, self.path, self.headers)
        allowed = self.expected_ahead if is_ahead else self.expected
        return [] if status in allowed else [f"{self.name} got {status}"]


def fetch(
    port: int, path: str, headers: Mapping[str, str], body: Any = None, *, source: str = "127.0.0.1"
) -> tuple[int, dict[str, str]]:
    """Status and headers of a response, these with names in lower case.

    Args:
        body: what is posted, if anything.
        source: the address that the request comes from.
    """
    connection = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=30, source_address=(source, 0)
    )
    method, content = ("GET", None) if body is None else ("POST", json.dumps(body))
    every = {"Content-Type": "application/json", **headers}
    with closing(connection):
        connection.request(method, path, content, every)
        answer = connection.getresponse()
        answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}


def holders(app: Flask) -> Sequence[Holder]:
    """Those with credentials that are valid, revoked, or expired days ago."""
    client = make_account(app)
    revoked = make_key(client)
    _update(app, update(Credential).where(Credential.id == revoked.credential_id), revoked_at=0)
    token, ended, expired = (_access_token(client) for _ in range(3))
    _update(app, _row(ended), revoked_at=0)
    _update(app, _row(expired), expires_at=-3)
    with app.app_context():
        session = start_session(
            client.owner_id, client.account_id, address="127.0.0.1", browser="test"
        )
        db.session.commit()
    path = "/v1/projects"
    return [
        Holder("an API key", path, client.authorization, ALWAYS, ALWAYS),
        Holder("a revoked API key", path, revoked.authorization, NEVER, NEVER),
        Holder("an access token", path, _bearer(token), ALWAYS, ALWAYS | NEVER),
        Holder("a revoked access token", path, _bearer(ended), NEVER, NEVER),
        Holder("an access token that expired days ago", path, _bearer(expired), NEVER, NEVER),
        Holder("a session", "/profile", {"Cookie": f"canopy_session={session}"}, ALWAYS, ALWAYS),
    ]


def _access_token(client: Client) -> str:
    application = make_application(client)
    granted = grant_tokens(client.app, application, client.owner_id, client.account_id)
    return str(granted["access_token"])


def _row(token: str) -> Any:
    return update(OAuthToken).where(OAuthToken.token_hash == hash_token(token))


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _update(app: Flask, statement: Any, **days: float) -> None:
    """Set a column to a time so many days from now."""
    values = {name: clock.now() + timedelta(days=number) for name, number in days.items()}
    with app.app_context():
        changed: Any = db.session.execute(statement.values(**values))
        assert changed.rowcount == 1
        db.session.commit()
