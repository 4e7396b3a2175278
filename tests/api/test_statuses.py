"""Every status that the description promises of an operation is answered by it.

Made from the description: an operation that is added is asked for all of its statuses at once. When
it needs something before it can succeed, add a line to ``operations.BEFORE``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from app.api.idempotency import IdempotentRequest, StillRunning
from app.db import queries
from app.policy.permissions import PROFILE
from tests.api.operations import (
    Ids,
    Operation,
    absent_ids,
    body,
    described,
    example_body,
    fill,
    lacking,
    operations,
    prepare,
)
from tests.make import Client, make_key, use_up_minute
from tests.make.oauth import bearer, grant_tokens, make_application

_numbers = itertools.count(1)


def _promised(operation: Operation) -> list[int]:
    """The statuses of an operation, with 429 at the end: it uses up the minute."""
    found = map(int, described(operation)["responses"])
    return sorted(found, key=lambda status: (status == 429, status))


class Asked:
    """An operation with its documented example as the body, on things that exist."""

    def __init__(self, client: Client, operation: Operation, ids: Ids) -> None:
        self.client, self.operation, self.ids = client, operation, dict(ids)
        self.body = example_body(operation)
        self.headers: dict[str, str] = {}
        self.query = ""
        self.sent: dict[str, Any] | None = None  # in place of the body

    def send(self) -> TestResponse:
        path = self.operation.path(self.ids) + self.query
        sent = body(self.operation, self.body) if self.sent is None else self.sent
        return self.client.send(self.operation.method, path, headers=self.headers, **sent)


def _too_large(asked: Asked) -> None:
    """Name a length that no body may have. Real ones, of 50 MB each, would fill the memory."""
    settings = asked.client.app.config["SETTINGS"]
    length = max(settings.max_body_bytes, settings.max_import_bytes) + 100_000
    asked.sent = {"data": b" ", "environ_overrides": {"CONTENT_LENGTH": str(length)}}


def _other_body(asked: Asked) -> None:
    """A field that does not exist, or a field where no body is taken."""
    asked.body = (asked.body or {}) | {"x": 1}


def _fails_with(error: Exception) -> Callable[[Asked], None]:
    def make_fail(asked: Asked) -> None:
        def fail(*_: Any) -> None:
            raise error

        PATCH.setattr(queries, "reading_engine", fail)

    return make_fail


def _still_runs(asked: Asked) -> None:
    """Where a state can stand against it, it does; else the first request of a key still runs."""
    if "member_id" in asked.ids:
        asked.ids["member_id"] = asked.client.owner_id  # the last owner
    if asked.operation.method == "DELETE":
        return

    def claim(_: IdempotentRequest) -> bool:
        raise StillRunning

    PATCH.setattr(IdempotentRequest, "claim", claim)
    asked.headers["Idempotency-Key"] = f"key {next(_numbers)}"


def _limited(asked: Asked) -> None:
    needs = asked.operation.needs
    if needs != PROFILE:
        asked.client = make_key(asked.client, permissions=lacking(needs))
        return
    client, application = asked.client, make_application(asked.client)
    answer = grant_tokens(client.app, application, client.owner_id, client.account_id)
    asked.client = bearer(client, answer["access_token"])


PATCH = pytest.MonkeyPatch()
GOOD = (200, 201, 202, 204)
PROVOKE: dict[int, Callable[[Asked], Any]] = {
    304: lambda asked: asked.headers.update({"If-None-Match": "*"}),
    400: lambda asked: setattr(asked, "query", "?unknown=1"),
    401: lambda asked: setattr(asked, "client", asked.client.nobody()),
    403: _limited,
    404: lambda asked: setattr(asked, "ids", absent_ids(asked.operation)),
    409: _still_runs,
    412: lambda asked: asked.headers.update({"If-Match": '"x"'}),
    413: _too_large,
    415: lambda asked: setattr(asked, "sent", {"data": b"no JSON", "content_type": "text/plain"}),
    422: _other_body,
    429: lambda asked: use_up_minute(asked.client),
    500: _fails_with(ZeroDivisionError()),
    503: _fails_with(OperationalError("SELECT", {}, Exception("gone"))),
}


@pytest.mark.both
def test_each_succeeds_with_the_promised_status(client: Client, subtests: pytest.Subtests) -> None:
    for operation in operations():
        with subtests.test(operation.name):
            ids = fill(client, operation)
            prepare(client, operation, ids)
            (status,) = (status for status in _promised(operation) if status in GOOD)
            assert Asked(client, operation, ids).send().status_code == status


@pytest.mark.slow
@pytest.mark.provokes(500, 503)
@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_every_other_promised_status_is_answered(
    client: Client, operation: Operation, subtests: pytest.Subtests
) -> None:
    ids = fill(client, operation)
    for status in _promised(operation):
        if status not in GOOD:
            with subtests.test(f"{operation.name} {status}"):
                assert _provoked(Asked(client, operation, ids), status) == status


def _provoked(asked: Asked, status: int) -> int:
    assert status in PROVOKE, f"say in PROVOKE how {status} comes about"
    try:
        PROVOKE[status](asked)
        return asked.send().status_code
    finally:
        PATCH.undo()
