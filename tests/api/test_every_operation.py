"""What every operation of /v1 keeps: made from the URL map, so that a new one is held to it too.

401 comes before 403 and 403 before 404, and what is absent, malformed or of another account gets
the same answer byte for byte (docs/request-flow.md, "The order of checks").
"""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.policy.permissions import PERMISSIONS
from tests.api.operations import (
    MALFORMED,
    Operation,
    absent_ids,
    addressed,
    example_body,
    fill,
    lacking,
    named,
    operations,
    prepare,
)
from tests.make import Client, deliveries, events, make_key, make_service_token
from tests.make.webhooks import replays

SAME_ID = {"X-Request-Id": "one-request-id"}
BODY = {"unknown": 1}


def _name(operation: Operation) -> str:
    return operation.name


each = pytest.mark.parametrize("operation", operations(), ids=_name)
each_named = pytest.mark.parametrize("operation", named(), ids=_name)
each_addressed = pytest.mark.parametrize("operation", addressed(), ids=_name)


def _send(client: Client, operation: Operation, ids: dict[str, str]) -> TestResponse:
    body = None if operation.method in ("GET", "DELETE") else BODY
    return client.send(operation.method, operation.path(ids), json=body, headers=SAME_ID)


def _bytes(response: TestResponse) -> tuple[int, bytes, list[tuple[str, str]]]:
    headers = [item for item in response.headers if not item[0].startswith("X-RateLimit")]
    return response.status_code, response.get_data(), sorted(headers)


@each
def test_nobody_is_refused(client: Client, operation: Operation) -> None:
    response = _send(client.nobody(), operation, absent_ids(operation))
    assert response.status_code == 401
    assert response.json["error"]["code"] == "UNAUTHORIZED"
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


@each_named
def test_all_other_permissions_do_not_help(client: Client, operation: Operation) -> None:
    limited = make_key(client, permissions=lacking(operation.needs))
    response = _send(limited, operation, absent_ids(operation))
    assert response.status_code == 403
    assert response.json["error"]["code"] == "FORBIDDEN"
    assert operation.needs in response.json["error"]["message"]


@each_named
def test_the_permission_is_enough(client: Client, operation: Operation) -> None:
    bearer = make_service_token(client, permissions=[operation.needs])
    response = _send(bearer, operation, fill(client, operation))
    assert response.status_code not in (401, 403, 404)


@pytest.mark.parametrize(
    "operation", [item for item in operations() if item.needs not in PERMISSIONS], ids=_name
)
def test_any_credential_is_enough(client: Client, operation: Operation) -> None:
    bearer = make_key(client, permissions=["members:read"])
    assert _send(bearer, operation, fill(client, operation)).status_code == 200


@each_addressed
def test_a_stranger_cannot_tell_what_exists(
    client: Client, stranger: Client, operation: Operation
) -> None:
    """Each id of the path in turn is another account's; those before it are the stranger's own."""
    real, own = fill(client, operation), fill(stranger, operation)
    for place, argument in enumerate(operation.arguments):
        before = {name: own[name] for name in operation.arguments[:place]}
        absent = absent_ids(operation) | before
        expected = _bytes(_send(stranger, operation, absent))
        assert expected[0] == 404
        foreign = absent | {name: real[name] for name in operation.arguments[place:]}
        assert _bytes(_send(stranger, operation, foreign)) == expected
        for word in MALFORMED:
            assert _bytes(_send(stranger, operation, absent | {argument: word})) == expected


@each_addressed
def test_what_a_stranger_asked_for_is_untouched(
    client: Client, stranger: Client, operation: Operation
) -> None:
    """The same request succeeds where it is the account's own, and is seen in what is compared."""
    ids = fill(client, operation)
    prepare(client, operation, ids)
    path, body = operation.path(ids), example_body(operation)
    before = _everything(client, operation, ids)
    assert stranger.send(operation.method, path, json=body).status_code == 404
    assert _everything(client, operation, ids) == before
    assert client.send(operation.method, path, json=body).status_code in (200, 201, 204)
    assert (_everything(client, operation, ids) == before) is (operation.method == "GET")


def _everything(client: Client, operation: Operation, ids: dict[str, str]) -> Any:
    """All that can be read of what the operation's path names, the account's events, and what is
    queued."""
    reads = [
        each
        for each in addressed()
        if each.method == "GET" and set(each.arguments) <= set(operation.arguments)
    ]
    answers = [client.get(each.path(ids)) for each in reads]
    assert answers
    read = [(answer.status_code, answer.json.get("data")) for answer in answers]
    return read, events(client), deliveries(client), replays(client)


@each
def test_a_parameter_that_it_does_not_have_is_refused(client: Client, operation: Operation) -> None:
    path = operation.path(fill(client, operation)) + "?unknown=1"
    response = client.send(operation.method, path)
    assert response.status_code == 400
    assert response.json["error"]["code"] == "VALIDATION_ERROR"
    assert [item["field"] for item in response.json["error"]["details"]] == ["unknown"]


def test_an_operation_with_an_id_that_cannot_be_filled_says_what_to_do(client: Client) -> None:
    operation = Operation("GET", "/v1/bees/<bee_id>", ("bee_id",), "projects:read")
    with pytest.raises(LookupError, match="add 'bee_id' to FILLERS"):
        fill(client, operation)
