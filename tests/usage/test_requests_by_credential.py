"""Requests by credential: who made how many, on which day, and that the account's count is the
same as without them (docs/adr/0008-request-counts.md)."""

from __future__ import annotations

import sys
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from app.db.extensions import db
from app.jobs.valkey import valkey
from app.limits import request_counts
from app.maintenance.jobs import prune
from app.models import Credential, CredentialRequest
from app.usage.requests import Requests, last_days, read_requests, requests_csv
from app.values import clock
from tests.make import (
    Client,
    bearer,
    grant_tokens,
    make_application,
    make_key,
    make_member,
    make_service_token,
)
from tests.pages.support import browser_of


def _requests(client: Client, days: int = 1) -> Requests:
    with client.app.app_context():
        return read_requests(client.account_id, last_days(days))


def _by_id(client: Client) -> dict[str, int]:
    """Today's requests by credential, without those that made none."""
    callers = _requests(client).callers
    return {each.caller.id: each.total for each in callers if each.total}


@pytest.mark.both
def test_keys_and_tokens_are_counted_by_their_ids(client: Client) -> None:
    key, token = make_key(client), make_service_token(client)
    for caller in (client, key, key, token, token, token):
        caller.get("/v1/account")
    assert _by_id(client) == {client.credential_id: 1, key.credential_id: 2, token.credential_id: 3}
    assert _requests(client).total == 6
    assert [each.total for each in _requests(client).callers] == [3, 2, 1]


def test_an_application_is_counted_as_one_whomever_it_acts_for(client: Client) -> None:
    application = make_application(client)
    for user_id in (client.owner_id, make_member(client, "viewer").id):
        tokens = grant_tokens(client.app, application, user_id, client.account_id)
        bearer(client, tokens["access_token"]).get("/v1/projects")
    assert _by_id(client) == {application.id: 2}
    (caller,) = (each.caller for each in _requests(client).callers if each.total)
    assert (caller.kind, caller.name) == ("oauth_application", "Map of Woods")


def test_people_who_look_at_ogc_count_together(client: Client) -> None:
    browser_of(client).get("/ogc/collections")
    assert _by_id(client) == {"session": 1}


def test_credentials_that_were_never_used_are_there_unless_revoked(client: Client) -> None:
    unused = make_key(client)
    found = {each.caller.id: each for each in _requests(client).callers}
    assert not found[unused.credential_id].caller.was_used
    assert found[unused.credential_id].total == 0


def test_requests_from_before_they_were_counted_so_are_told_apart(client: Client) -> None:
    client.get("/v1/account")
    with client.app.app_context():
        valkey().client.hincrby(
            request_counts.day_key(request_counts.today_utc()), client.account_id, 5
        )
    found = _requests(client)
    assert (found.total, found.unknown) == (6, 5)


def test_a_counter_that_is_behind_makes_no_negative_number(client: Client) -> None:
    client.get("/v1/account")
    today = request_counts.today_utc()
    with client.app.app_context():
        valkey().client.hincrby(request_counts.day_key(today), client.account_id, -1)
    found = _requests(client)
    assert (found.total, found.unknown) == (0, 0)
    rows = requests_csv(found).decode().splitlines()[1:]
    assert [row.rpartition(",")[2] for row in rows] == ["1"]


def test_each_day_has_its_own_number(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for day, number in (("2026-03-01", 2), ("2026-03-03", 1)):
        monkeypatch.setattr(clock, "now", lambda d=day: clock.parse_time(f"{d}T12:00:00.000Z"))
        for _ in range(number):
            client.get("/v1/account")
    found = _requests(client, days=4)
    assert found.days == ["2026-02-28", "2026-03-01", "2026-03-02", "2026-03-03"]
    assert found.by_day == found.callers[0].by_day == [0, 2, 0, 1]


@pytest.mark.both
def test_they_are_kept_for_90_days(client: Client) -> None:
    today = clock.now()
    with client.app.app_context():
        for age in (0, 89, 90, 200):
            day = clock.day_of(today - timedelta(days=age))
            row = CredentialRequest(
                account_id=client.account_id, credential_id="key_x", day=day, requests=1
            )
            db.session.add(row)
        db.session.commit()
        prune()
        own = CredentialRequest.account_id == client.account_id
        assert db.session.scalar(select(func.count()).where(own)) == 2


@pytest.mark.both
def test_of_those_that_have_ended_the_most_active_are_told_apart(client: Client) -> None:
    client.get("/v1/account")
    today, ended = request_counts.today_utc(), [make_key(client, name=f"Key {n}") for n in range(3)]
    ids = [each.credential_id for each in ended] + ["app_x", make_application(client).id]
    account_id = client.account_id
    with client.app.app_context():
        revoked = update(Credential).where(Credential.id.in_(ids))
        db.session.execute(revoked.values(revoked_at=clock.now()))
        for number, id_ in enumerate(ids, start=1):
            row = {"account_id": account_id, "day": today, "requests": number}
            db.session.add(CredentialRequest(credential_id=id_, **row))
        db.session.commit()
        valkey().client.hincrby(request_counts.day_key(today), account_id, 15)
        found = read_requests(account_id, [today], most_ended=3)
        every = read_requests(account_id, [today], most_ended=sys.maxsize)
    shown = [(each.caller.name, each.caller.has_ended, each.total) for each in found.callers]
    assert shown[:3] == [("Map of Woods", True, 5), ("app_x", True, 4), ("Key 2", True, 3)]
    assert [each[1:] for each in shown[3:]] == [(False, 1)]
    assert (found.total, found.unknown, every.unknown) == (16, 3, 0)
