"""Who uses what is deprecated: counts, ``GET /v1/account/deprecations``, the page, the emails."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.extensions import db
from app.models import DeprecatedRequest
from app.policy import deprecations
from app.policy.deprecations import DEPRECATIONS
from app.usage.jobs import warn_of_sunsets, write_counts
from app.values import clock
from tests.make import (
    Client,
    mails_to,
    make_key,
    make_member,
    square,
    text_of,
)
from tests.pages.support import browser_of

PATH = "/v1/account/deprecations"
BARE = DEPRECATIONS[0]


def _use(caller: Client) -> None:
    assert caller.post("/v1/geometry/validate", json=square()).status_code == 200


def _uses(client: Client) -> list[dict[str, Any]]:
    (found,) = client.get(PATH).json["data"]
    uses: list[dict[str, Any]] = found["used_by"]
    return uses


def _write(client: Client) -> None:
    with client.app.app_context():
        write_counts()
        db.session.rollback()


def _used_on(client: Client, days_ago: int, number: int = 1) -> None:
    """Uses that were copied on an earlier day."""
    day = clock.day_of(clock.now() - timedelta(days=days_ago))
    with client.app.app_context():
        row = DeprecatedRequest(
            account_id=client.account_id,
            day=day,
            credential_id=client.credential_id,
            deprecation=BARE.id,
            requests=number,
        )
        db.session.add(row)
        db.session.commit()


@pytest.fixture
def _sunset_in(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The sunset of the one deprecation, in so many days."""
    sunset = clock.now().date() + timedelta(days=request.param)
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (replace(BARE, sunset=sunset),))


@pytest.mark.both
def test_nobody_uses_it(client: Client) -> None:
    response = client.get(PATH).json
    assert response["meta"]["total"] == 1
    assert response["data"] == [
        {
            "id": "bare-geometry",
            "operation": "POST /v1/geometry/validate",
            "name": "coordinates",
            "what": BARE.what,
            "since": "2026-11-22",
            "sunset": None,
            "replacement": BARE.replacement,
            "used_by": [],
        }
    ]


@pytest.mark.both
def test_each_credential_with_its_last_day(client: Client) -> None:
    key = make_key(client)
    for _ in range(3):
        _use(key)
    client.post("/v1/geometry/validate", json={"geometry": square()})
    _used_on(client, 40, number=7)
    today, before = (clock.day_of(clock.now() - timedelta(days=ago)) for ago in (0, 40))
    assert [(each["id"], each["last_used_on"], each["requests"]) for each in _uses(client)] == [
        (key.credential_id, today, 3),
        (client.credential_id, before, 0),
    ]


@pytest.mark.both
def test_they_change_no_count_of_requests(client: Client) -> None:
    _use(client)
    usage = client.get("/v1/account/usage").json["data"]
    assert usage["api_requests"]["current"] == 2


def test_it_needs_admin(client: Client) -> None:
    assert make_key(client, permissions=["billing:read"]).get(PATH).status_code == 403


@pytest.mark.both
def test_the_page_shows_it_while_it_is_used(client: Client) -> None:
    browser = browser_of(client)
    assert "still used" not in browser.get("/usage").text
    _used_on(client, 35)
    assert "still used" not in browser.get("/usage").text
    _use(client)
    page = browser.get("/usage")
    assert "Deprecated, and still used" in page.text
    assert "until a release leaves it out, which is not decided yet" in page.text
    assert "1 request in 30 days, the last on" in page.text


@pytest.mark.slow
@pytest.mark.both
@pytest.mark.parametrize("_sunset_in", [20], indirect=True)
@pytest.mark.usefixtures("_sunset_in")
def test_owners_get_one_email_before_the_sunset(client: Client) -> None:
    owner, admin = make_member(client, "owner"), make_member(client, "admin")
    _use(client)
    _write(client)
    before = len(mails_to(client.app, admin.email))
    for _ in range(2):
        with client.app.app_context():
            warn_of_sunsets()
    message = mails_to(client.app, owner.email)[-1]
    words = " ".join(text_of(message).split())
    assert "Your account on Canopy uses something that will be left out" in message["Subject"]
    assert f"a release after {clock.day_of(clock.now() + timedelta(days=20))} may" in words
    assert "1 request used it in the last 30 days." in words
    subjects = [str(each["Subject"]) for each in mails_to(client.app, owner.email)]
    assert len([each for each in subjects if "left out" in each]) == 1
    assert len(mails_to(client.app, admin.email)) == before


@pytest.mark.both
@pytest.mark.parametrize("_sunset_in", [31, 0, -5], indirect=True)
@pytest.mark.usefixtures("_sunset_in")
def test_no_email_long_before_the_sunset_or_after_it(client: Client) -> None:
    owner = make_member(client, "owner")
    _use(client)
    _write(client)
    before = len(mails_to(client.app, owner.email))
    with client.app.app_context():
        assert warn_of_sunsets() == 0
    assert len(mails_to(client.app, owner.email)) == before


@pytest.mark.both
def test_no_email_to_those_who_stopped(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = make_member(client, "owner")
    _used_on(client, 31)
    before = len(mails_to(client.app, owner.email))
    sunset = clock.now().date() + timedelta(days=10)
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (replace(BARE, sunset=sunset),))
    with client.app.app_context():
        warn_of_sunsets()
    assert len(mails_to(client.app, owner.email)) == before
