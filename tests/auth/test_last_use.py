"""``last_used_at``: a hint, written at most once a minute, that holds up no request."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.account.credentials.service import list_credentials
from app.auth.sessions import start_session
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Session
from app.values import clock
from tests.make import Browser, Client, make_key


def _last_use(client: Client) -> str | None:
    with client.app.app_context():
        found = list_credentials(client.account_id, "api_key")
    return next(row["last_used_at"] for row in found if row["id"] == client.credential_id)


def test_a_new_key_was_never_used(client: Client) -> None:
    assert _last_use(make_key(client)) is None


def test_a_use_is_noted_at_most_once_a_minute(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = clock.now()
    for seconds, noted in ((0, 0), (59.999, 0), (60, 60)):
        monkeypatch.setattr(clock, "now", lambda at=start + timedelta(seconds=seconds): at)
        client.get("/v1/account")
        assert _last_use(client) == clock.format_time(start + timedelta(seconds=noted))


def test_a_refused_use_is_noted_too(client: Client) -> None:
    limited = make_key(client, permissions=["members:read"])
    assert limited.get("/v1/projects").status_code == 403
    assert _last_use(limited) is not None


def test_each_key_has_its_own(client: Client) -> None:
    other = make_key(client)
    client.get("/v1/account")
    assert _last_use(other) is None


@pytest.mark.both
def test_a_use_leaves_the_address_of_the_sign_in(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client.app.app_context(), transaction():
        started = {"address": "203.0.113.7", "browser": "Firefox"}
        token = start_session(client.owner_id, client.account_id, **started)
    later = clock.now() + timedelta(minutes=2)
    monkeypatch.setattr(clock, "now", lambda: later)
    browser = Browser(client.app)
    browser.client.set_cookie("canopy_session", token)
    assert browser.get("/profile").status == 200
    with client.app.app_context():
        row = db.session.query(Session).filter_by(user_id=client.owner_id).one()
        assert (row.address, row.last_used_at) == ("203.0.113.7", later)
