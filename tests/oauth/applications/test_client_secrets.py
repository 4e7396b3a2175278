"""Secrets of applications are rotated, with a time in which the former one works too."""

from __future__ import annotations

from datetime import timedelta

import pytest
from werkzeug.test import TestResponse

from app.db.extensions import db
from app.db.transactions import transaction
from app.http.errors import Conflict
from app.oauth.applications.client_secrets import RotatedSecret, end_former_secret, rotate_secret
from app.oauth.applications.service import find_application, list_applications
from app.values import clock
from tests.make import Application, Client, make_application, together
from tests.make.oauth import ask_token, exchange
from tests.oauth.support import advance_clock, assert_error, code_of, rows, tokens_of

ENDPOINTS = ("/oauth/token", "/oauth/revoke", "/oauth/introspect")


def rotate(client: Client, application: Application, hours: int, mark: str | None = None) -> str:
    """Rotate the secret in a transaction of its own. Returns the new one."""
    with client.app.app_context():
        try:
            given = (client.account_id, application.id)
            rotated = rotate_secret(*given, overlap_hours=hours, mark=mark)
            db.session.commit()
        finally:
            db.session.rollback()
    assert isinstance(rotated, RotatedSecret)
    return rotated.secret


def end(client: Client, application: Application) -> bool | None:
    with client.app.app_context(), transaction():
        return end_former_secret(client.account_id, application.id)


def answers(client: Client, application: Application, secret: str | None) -> list[TestResponse]:
    """What all three endpoints answer an application that sends a secret."""
    code = code_of(client, application)
    return [
        exchange(client.app, application, code, client_secret=secret),
        *(
            ask_token(client.app, application, path, token="x", client_secret=secret)
            for path in ENDPOINTS[1:]
        ),
    ]


def assert_accepted(client: Client, application: Application, *secrets: str | None) -> None:
    for secret in secrets:
        statuses = [answer.status_code for answer in answers(client, application, secret)]
        assert statuses == [200, 200, 200]


def assert_refused(client: Client, application: Application, *secrets: str | None) -> None:
    for secret in secrets:
        for answer in answers(client, application, secret):
            assert_error(answer, "invalid_client", 401)


def test_both_secrets_work_until_the_overlap_is_over(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = rotate(client, application, 24)
    assert_accepted(client, application, new, application.secret)
    assert_refused(client, application, "canopy_ocs_x")
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment + timedelta(hours=23, minutes=59))
    assert_accepted(client, application, new, application.secret)
    monkeypatch.setattr(clock, "now", lambda: moment + timedelta(hours=24))
    assert_accepted(client, application, new)
    assert_refused(client, application, application.secret)


def test_without_an_overlap_only_the_new_secret_works(
    client: Client, application: Application
) -> None:
    rotate(client, application, 24)
    new = rotate(client, application, 0)
    assert_accepted(client, application, new)
    assert_refused(client, application, application.secret)


@pytest.mark.both
def test_the_former_secret_is_ended(client: Client, application: Application) -> None:
    new = rotate(client, application, 168)
    assert end(client, application) is True
    assert_accepted(client, application, new)
    assert_refused(client, application, application.secret)
    assert end(client, application) is False


def test_what_people_granted_outlives_a_rotation(client: Client, application: Application) -> None:
    token = tokens_of(client, application)["refresh_token"]
    new = rotate(client, application, 0)
    form = {"grant_type": "refresh_token", "refresh_token": token}
    answer = ask_token(client.app, application, **form, client_secret=new)
    assert answer.status_code == 200


def test_the_record_says_until_when_the_former_one_works(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    def until() -> str | None:
        with client.app.app_context():
            found = find_application(client.account_id, application.id)
            listed = list_applications(client.account_id)[0]
        assert found is not None
        assert listed == {name: value for name, value in found.items() if name != "secret_mark"}
        text: str | None = found["former_secret_until"]
        return text

    assert until() is None
    before = clock.now()
    rotate(client, application, 2)
    shown = clock.parse_time(until() or "")
    assert timedelta() <= shown - before - timedelta(hours=2) < timedelta(minutes=1)
    advance_clock(monkeypatch, timedelta(hours=2, minutes=1))
    assert until() is None


def test_of_two_rotations_with_the_same_mark_one_succeeds(
    client: Client, application: Application
) -> None:
    with client.app.app_context():
        mark = (find_application(client.account_id, application.id) or {})["secret_mark"]

    def attempt() -> str | None:
        try:
            return rotate(client, application, 24, mark)
        except Conflict:
            return None

    made = together(*[attempt] * 4)
    (new,) = (secret for secret in made if secret)
    assert_accepted(client, application, new, application.secret)
    with pytest.raises(Conflict, match="was rotated since"):
        rotate(client, application, 24, mark)


def test_a_public_application_and_one_of_others_are_not_touched(
    client: Client, stranger: Client
) -> None:
    public = make_application(client, public=True)
    with pytest.raises(Conflict, match="no secret"):
        rotate(client, public, 24)
    other = make_application(stranger)
    with client.app.app_context():
        assert rotate_secret(client.account_id, other.id) is None
        assert end_former_secret(client.account_id, other.id) is None
        assert find_application(client.account_id, other.id) is None
    assert_accepted(stranger, other, other.secret)


def test_only_hashes_are_stored(client: Client, application: Application) -> None:
    new = rotate(client, application, 24)
    (row,) = rows(client, "SELECT * FROM oauth_applications WHERE id = :id", id=application.id)
    assert new not in str(row)
    assert str(application.secret) not in str(row)
