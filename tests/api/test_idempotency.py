"""Idempotency-Key: a request is carried out once (docs/api-conventions.md, "Idempotency")."""

from __future__ import annotations

import hashlib
import itertools
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from app.api import idempotency
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import IdempotentResponse
from app.values import clock
from app.values.strict_json import loads
from tests.make import (
    Client,
    event_types,
    make_account,
    make_asset,
    make_key,
    make_project,
    make_service_token,
    revoke,
)
from tests.processor_time import takes_at_most

_numbers = itertools.count(1)


@pytest.fixture
def key() -> dict[str, str]:
    return {"Idempotency-Key": f"order {next(_numbers)}"}


def _create(client: Client, key: dict[str, str], **fields: Any) -> TestResponse:
    return client.post("/v1/projects", json={"name": "Wald"} | fields, headers=key)


def _total(client: Client) -> int:
    return client.get("/v1/projects").json["meta"]["total"]


def _kept(client: Client) -> int:
    """How many answers are kept for the account."""
    with client.app.app_context():
        statement = select(func.count()).where(IdempotentResponse.account_id == client.account_id)
        return db.session.execute(statement).scalar_one()


def _is_replay(first: TestResponse, second: TestResponse) -> bool:
    """Whether the second is the first again: status, body and headers, but for the request's id."""
    assert second.headers.get("Idempotency-Replayed", "false") in ("true", "false")
    if second.headers.get("Idempotency-Replayed") != "true":
        return False
    changing = {"X-Request-Id", "Idempotency-Replayed", "Date"}
    changing |= {"X-RateLimit-Remaining", "X-RateLimit-Reset"}  # they are of each request
    heads = [{n: v for n, v in r.headers if n not in changing} for r in (first, second)]
    assert heads[0] == heads[1]
    assert (first.status_code, first.get_data()) == (second.status_code, second.get_data())
    assert first.headers["X-Request-Id"] != second.headers["X-Request-Id"]
    return True


def test_a_repeat_gets_the_first_answer_and_changes_nothing(client: Client, key: Any) -> None:
    first, second = _create(client, key), _create(client, key)
    assert first.status_code == 201
    assert "Idempotency-Replayed" not in first.headers
    assert _is_replay(first, second)
    assert _total(client) == 1
    assert event_types(client) == ["project.created"]


def test_a_key_has_one_to_255_characters(client: Client) -> None:
    for key in ({"Idempotency-Key": "~" * length} for length in (1, 255)):
        assert _is_replay(_create(client, key), _create(client, key))


def test_every_post_and_put_can_be_repeated(client: Client, subtests: pytest.Subtests) -> None:
    project = f"/v1/projects/{make_project(client)['id']}"
    asset = f"{project}/assets/{make_asset(client, project.rpartition('/')[2])['id']}"
    for method, path, body in (
        ("POST", "/v1/projects", {"name": "Wald"}),
        ("PUT", project, {"name": "Wald"}),
        ("POST", f"{project}/assets", {"name": "A", "type": "tower"}),
        ("PUT", asset, {"status": "retired"}),
        ("POST", f"{project}/archive", None),
        ("POST", f"{project}/restore", None),
        ("PUT", "/v1/account", {"name": "Renamed"}),
        ("POST", "/v1/geometry/validate", {"geometry": None}),
    ):
        with subtests.test(f"{method} {path}"):
            key = {"Idempotency-Key": f"order {next(_numbers)}"}
            first = client.send(method, path, json=body, headers=key)
            known = event_types(client)
            assert first.status_code in (200, 201)
            assert _is_replay(first, client.send(method, path, json=body, headers=key))
            assert event_types(client) == known


def test_reading_takes_no_notice_of_a_key(client: Client, key: Any) -> None:
    assert _create(client, key).status_code == 201
    response = client.get("/v1/projects", headers=key)
    assert response.status_code == 200
    assert "Idempotency-Replayed" not in response.headers
    assert _kept(client) == 1


def test_a_key_of_another_request_is_refused(client: Client, key: Any) -> None:
    first = _create(client, key)
    for method, path, body in (
        ("POST", "/v1/projects", {"name": "Forst"}),
        ("POST", "/v1/geometry/validate", {"name": "Wald"}),
        ("PUT", "/v1/account", {"name": "Wald"}),
        ("POST", "/v1/projects?x=1", {"name": "Wald"}),
    ):
        other = client.send(method, path, json=body, headers=key)
        assert other.status_code == 422
        assert other.json["error"]["code"] == "VALIDATION_ERROR"
        assert [d["field"] for d in other.json["error"]["details"]] == ["Idempotency-Key"]
    assert _is_replay(first, _create(client, key))


def test_bodies_of_the_same_values_are_one_request(
    client: Client, subtests: pytest.Subtests
) -> None:
    deep = b'{"name": "A", "metadata": ' + b"[" * 300 + b"]" * 300 + b"}"
    first = b'{"name": "A", "metadata": {"a": 1, "b": [2.5, 100, {"c": "d."}]}}'
    for body, again, status in (
        (first, b'{"metadata":{"b":[2.50,1e2,{"c":"\\u0064."}],"a":1.0},"name":"A"}\n', 201),
        (first, first.replace(b"d.", b"d.0"), None),
        (first, first.replace(b": 1,", b": true,"), None),
        (first, first.replace(b": 1,", b': "1",'), None),
        (first, first.replace(b"2.5, 100", b"100, 2.5"), None),
        (b'{"name": 9223372036854775807}', b'{"name": 9223372036854775807.0}', None),
        (b'{"name": -0.0}', b'{"name": 0}', 422),
        (b'{"name": 1, "name": 2}', b'{"name": 2, "name": 2}', None),
        (b'{"name": 1, "name": 2}', b'{"name": 1, "name": 2}', 400),
        (deep, deep, 422),
        (deep, deep.replace(b"[]", b"[ ]"), None),
    ):
        with subtests.test(again.decode()[:60]):
            sender = make_account(client.app)
            headers = {"Idempotency-Key": "one", "Content-Type": "application/json"}
            made = sender.send("POST", "/v1/projects", data=body, headers=headers)
            repeat = sender.send("POST", "/v1/projects", data=again, headers=headers)
            assert (made.status_code if _is_replay(made, repeat) else None) == status
            assert status or repeat.json["error"]["details"][0]["code"] == "not_unique"


def test_what_a_former_release_stored_is_replayed(client: Client, key: Any) -> None:
    body = b'{"name": "Wald"}'
    headers = {"Content-Type": "application/json"} | key
    first = client.send("POST", "/v1/projects", data=body, headers=headers)
    with client.app.app_context(), transaction():
        row = db.session.scalars(
            select(IdempotentResponse).where(IdempotentResponse.account_id == client.account_id)
        ).one()
        row.fingerprint = hashlib.sha256(b"POST /v1/projects?\n" + body).hexdigest()
    assert _is_replay(first, client.send("POST", "/v1/projects", data=body, headers=headers))


def test_comparing_the_values_of_a_large_body_takes_about_as_long_as_reading_it() -> None:
    body = b"[" + b",".join(b"[%d.0,47.123456]" % (n % 180) for n in range(40_000)) + b"]"
    assert takes_at_most(20, partial(idempotency._body_values, body), partial(loads, body))


def test_a_refusal_is_kept(client: Client, subtests: pytest.Subtests) -> None:
    path = f"/v1/projects/{make_project(client, name='Taken')['id']}"
    for status, method, target, body, headers in (
        (400, "POST", "/v1/projects?x=1", {"name": "Wald"}, {}),
        (404, "POST", "/v1/projects/proj_x/archive", None, {}),
        (409, "POST", "/v1/projects", {"name": "Taken"}, {}),
        (412, "PUT", path, {"name": "Wald"}, {"If-Match": '"x"'}),
        (422, "POST", "/v1/projects", {"name": ""}, {}),
    ):
        with subtests.test(str(status)):
            key: dict[str, str] = {"Idempotency-Key": f"order {next(_numbers)}"}
            first = client.send(method, target, json=body, headers=headers | key)
            assert first.status_code == status
            again = client.send(method, target, json=body, headers=headers | key)
            assert _is_replay(first, again)


def test_what_is_refused_before_the_key_is_looked_at_is_not_kept(client: Client, key: Any) -> None:
    reader = make_key(client, permissions=["projects:read"])
    assert _create(client.nobody(), key).status_code == 401
    assert _create(reader, key).status_code == 403
    text = key | {"Content-Type": "text/plain"}
    no_json = client.send("POST", "/v1/projects", data=b"x", headers=text)
    assert no_json.status_code == 415
    assert _kept(client) == 0
    assert _create(client, key).status_code == 201
    assert _create(reader, key).status_code == 403


@pytest.mark.provokes(500, 503)
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (OperationalError("COMMIT", {}, Exception("disk I/O error")), 503),
        (ZeroDivisionError(), 500),
    ],
)
def test_5xx_is_not_kept(client: Client, key: Any, error: Exception, status: int) -> None:
    def fail() -> None:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db.session, "commit", fail)
        assert _create(client, key).status_code == status
    assert _kept(client) == 0
    assert _create(client, key).status_code == 201
    assert _total(client) == 1


def test_an_answer_is_kept_for_24_hours(
    client: Client, key: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = clock.now()
    monkeypatch.setattr(clock, "now", lambda: start)
    first = _create(client, key)
    for milliseconds, is_kept in ((-1, True), (0, False)):
        later = start + timedelta(hours=24, milliseconds=milliseconds)
        monkeypatch.setattr(clock, "now", lambda later=later: later)
        assert _is_replay(first, _create(client, key)) is is_kept
    assert _kept(client) == 1
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(hours=49))
    assert _create(client, key, name="Forst").status_code == 201


def test_of_large_responses_only_so_many_are_stored(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "IDEMPOTENCY_BYTES", 25_000)
    keys = [{"Idempotency-Key": f"large {number}"} for number in range(4)]

    def send(number: int, description: str) -> TestResponse:
        return _create(client, keys[number], name=f"Wald {number}", description=description)

    first = [send(number, "x" * 10_000) for number in range(3)] + [send(3, "small")]
    again = [send(number, "x" * 10_000) for number in range(3)] + [send(3, "small")]
    assert [_is_replay(*pair) for pair in zip(first, again, strict=True)] == [
        True,
        True,
        False,
        True,
    ]
    error = again[2].json["error"]
    assert (again[2].status_code, error["details"][0]["code"]) == (409, "response_lost")
    assert first[2].headers["Location"] in error["message"]
    assert (_total(client), len(event_types(client))) == (4, 4)
    other = make_account(client.app)
    assert _is_replay(*[_create(other, keys[0], description="x" * 10_000) for _ in range(2)])


def test_another_credential_of_the_account_gets_the_same_answer(client: Client, key: Any) -> None:
    first = _create(client, key)
    assert _is_replay(first, _create(make_key(client), key))
    assert _is_replay(first, _create(make_service_token(client), key))


def test_a_revoked_credential_gets_no_answer_again(client: Client, key: Any) -> None:
    revoked = make_key(client)
    assert _create(revoked, key).status_code == 201
    revoke(revoked)
    assert _create(revoked, key).status_code == 401


def test_accounts_have_keys_of_their_own(client: Client, stranger: Client, key: Any) -> None:
    first, other = _create(client, key), _create(stranger, key, name="Forst")
    assert (first.status_code, other.status_code) == (201, 201)
    assert other.json["data"]["name"] == "Forst"
    assert _is_replay(first, _create(client, key))
