"""The page that lists applications with access."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.policy.forms import FIELD_LENGTH
from app.values import clock
from tests.make import (
    Application,
    Client,
    make_application,
    make_member,
)
from tests.oauth.support import api_status, authorize_url, browser_of, tokens_of


def test_consents_of_other_people_cannot_be_revoked(
    client: Client, application: Application
) -> None:
    response = tokens_of(client, application)
    member = make_member(client)
    tokens_of(client, make_application(client))
    browser = browser_of(client, member.id)
    tokens_of(client, make_application(client))
    page = browser.get("/applications")
    assert "Map of Woods" not in page.text
    browser_token = browser.get(authorize_url(application)).form().fields["csrf_token"]
    fields = {"account_id": client.account_id, "application_id": application.id}
    page = browser.send("/applications/end", csrf_token=browser_token, **fields)
    assert page.status == 303
    assert api_status(client, response) == 200


def test_revoking_an_unknown_consent(client: Client, application: Application) -> None:
    for value in ["", "x", "\x00", "x" * FIELD_LENGTH]:
        browser = browser_of(client)
        token = browser.get(authorize_url(application)).form().fields["csrf_token"]
        page = browser.send(
            "/applications/end", csrf_token=token, account_id=value, application_id=value
        )
        assert page.status == 303


def test_last_use_is_shown(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = clock.now() + timedelta(minutes=30)
    response = tokens_of(client, application)
    monkeypatch.setattr(clock, "now", lambda: moment)
    api_status(client, response)
    page = browser_of(client).get("/applications")
    assert f"last used {moment:%m/%d/%Y, }" in page.text
