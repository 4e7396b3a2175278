"""What every operation of /v1 keeps: made from the URL map, so that a new one is held to it too.

401 comes before 403 and 403 before 404, and what is absent, malformed or of another account gets
the same answer byte for byte (docs/request-flow.md, "The order of checks").
"""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.auth.guard import OR
from app.policy.permissions import PERMISSIONS
from tests.api.operations import (
    EVERYTHING,
    MALFORMED,
    Operation,
    absent_ids,
    addressed,
    body,
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


def _send(client: Client, operation: Operation, ids: dict[str, str]) -> TestResponse:
    sent = {} if operation.method in ("GET", "DELETE") else body(operation, BODY)
    return client.send(operation.method, operation.path(ids), headers=SAME_ID, **sent)


def _bytes(response: TestResponse) -> tuple[int, bytes, list[tuple[str, str]]]:
    headers = [item for item in response.headers if not item[0].startswith("X-RateLimit")]
    return response.status_code, response.get_data(), sorted(headers)


@pytest.fixture
def things(client: Client) -> dict[str, str]:
    """One of each thing that a path can name."""
    return fill(client, EVERYTHING)


def test_nobody_is_refused(client: Client, subtests: pytest.Subtests) -> None:
    for operation in operations():
        with subtests.test(operation.name):
            response = _send(client.nobody(), operation, absent_ids(operation))
            assert response.status_code == 401
            assert response.json["error"]["code"] == "UNAUTHORIZED"
            assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.slow
def test_all_other_permissions_do_not_help(client: Client, subtests: pytest.Subtests) -> None:
    for operation in named():
        limited = make_key(client, permissions=lacking(operation.needs))
        with subtests.test(operation.name):
            response = _send(limited, operation, absent_ids(operation))
            assert response.status_code == 403
            assert response.json["error"]["code"] == "FORBIDDEN"
            assert operation.needs in response.json["error"]["message"]


@pytest.mark.slow
def test_the_permission_is_enough(
    client: Client, things: dict[str, str], subtests: pytest.Subtests
) -> None:
    """What a change sends is refused for its body, so that the things stay; what ends one without
    a body gets one for itself."""
    for operation in named():
        bearer = make_service_token(client, permissions=operation.needs.split(OR)[:1])
        ids = fill(client, operation) if operation.method == "DELETE" else things
        with subtests.test(operation.name):
            assert _send(bearer, operation, ids).status_code not in (401, 403, 404)


def test_any_credential_is_enough(
    client: Client, things: dict[str, str], subtests: pytest.Subtests
) -> None:
    bearer = make_key(client, permissions=["members:read"])
    for operation in operations():
        if operation.needs.split(OR)[0] not in PERMISSIONS:
            with subtests.test(operation.name):
                assert _send(bearer, operation, things).status_code == 200


@pytest.mark.slow
def test_a_stranger_cannot_tell_what_exists(
    client: Client, stranger: Client, things: dict[str, str], subtests: pytest.Subtests
) -> None:
    """Each id of the path in turn is another account's; those before it are the stranger's own.

    On both databases, as they take different texts for ids.
    """
    own = fill(stranger, EVERYTHING)
    for operation in addressed():
        for place, argument in enumerate(operation.arguments):
            with subtests.test(f"{operation.name} {argument}"):
                before = {name: own[name] for name in operation.arguments[:place]}
                absent = absent_ids(operation) | before
                expected = _bytes(_send(stranger, operation, absent))
                assert expected[0] == 404
                after = operation.arguments[place:]
                foreign = absent | {name: things[name] for name in after}
                assert _bytes(_send(stranger, operation, foreign)) == expected
                for word in MALFORMED:
                    malformed = absent | {argument: word}
                    assert _bytes(_send(stranger, operation, malformed)) == expected, word


def test_what_a_stranger_asked_for_is_untouched(
    client: Client, stranger: Client, subtests: pytest.Subtests
) -> None:
    """The same request succeeds where it is the account's own, and is seen in what is compared."""
    for operation in addressed():
        if operation.method == "GET":
            continue
        with subtests.test(operation.name):
            ids = fill(client, operation)
            prepare(client, operation, ids)
            path = operation.path(ids)
            before = _everything(client, operation, ids)
            assert stranger.send(operation.method, path, **body(operation)).status_code == 404
            assert _everything(client, operation, ids) == before
            answer = client.send(operation.method, path, **body(operation))
            assert answer.status_code in (200, 201, 202, 204)
            assert _everything(client, operation, ids) != before


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


def test_a_parameter_that_it_does_not_have_is_refused(
    client: Client, things: dict[str, str], subtests: pytest.Subtests
) -> None:
    for operation in operations():
        with subtests.test(operation.name):
            response = client.send(operation.method, operation.path_with(things, "unknown=1"))
            assert response.status_code == 400
            error = response.json["error"]
            assert error["code"] == "VALIDATION_ERROR"
            assert [item["field"] for item in error["details"]] == ["unknown"]


def test_an_operation_with_an_id_that_cannot_be_filled_says_what_to_do(client: Client) -> None:
    operation = Operation("GET", "/v1/bees/<bee_id>", ("bee_id",), "projects:read")
    with pytest.raises(LookupError, match="add 'bee_id' to FILLERS"):
        fill(client, operation)
