"""Every status that the description promises of an operation is answered by it.

Made from the description: an operation that is added is asked for all of its statuses at once. When
it needs something before it can succeed, add a line to ``operations.BEFORE``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from app.api.idempotency import IdempotentRequest, StillRunning
from app.auth.guard import PROFILE
from app.db import queries
from tests.api.operations import (
    Operation,
    absent_ids,
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


def _promised() -> Iterator[Any]:
    for operation in operations():
        for status in sorted(map(int, described(operation)["responses"])):
            marks = [pytest.mark.provokes(status)] if status >= 500 else []
            name = f"{operation.name} {status}"
            yield pytest.param(operation, status, id=name, marks=marks)


class Asked:
    """An operation with its documented example as the body, on things that exist."""

    def __init__(self, client: Client, operation: Operation) -> None:
        self.client, self.operation = client, operation
        self.ids = fill(client, operation)
        self.body = example_body(operation)
        self.headers: dict[str, str] = {}
        self.query = ""
        self.data: bytes | None = None

    def prepare(self) -> None:
        """Bring things into the state in which the operation succeeds."""
        prepare(self.client, self.operation, self.ids)

    def send(self) -> TestResponse:
        path = self.operation.path(self.ids) + self.query
        sent = {"json": self.body} if self.data is None else {"data": self.data}
        return self.client.send(self.operation.method, path, headers=self.headers, **sent)


def _too_large(asked: Asked) -> None:
    asked.data = b" " * (asked.client.app.config["SETTINGS"].max_body_bytes + 1)


def _other_body(asked: Asked) -> None:
    """A field that does not exist, or a field where no body is taken."""
    asked.body = (asked.body or {}) | {"x": 1}


def _fails_with(error: Exception) -> Callable[[Asked], None]:
    def make_fail(asked: Asked) -> None:
        def fail(*_: Any) -> None:
            raise error

        PATCH.setattr(queries, "engine", fail)

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
GOOD = (200, 201, 204)
PROVOKE: dict[int, Callable[[Asked], Any]] = {
    **dict.fromkeys(GOOD, Asked.prepare),
    304: lambda asked: asked.headers.update({"If-None-Match": "*"}),
    400: lambda asked: setattr(asked, "query", "?unknown=1"),
    401: lambda asked: setattr(asked, "client", asked.client.nobody()),
    403: _limited,
    404: lambda asked: setattr(asked, "ids", absent_ids(asked.operation)),
    409: _still_runs,
    412: lambda asked: asked.headers.update({"If-Match": '"x"'}),
    413: _too_large,
    415: lambda asked: setattr(asked, "data", b"no JSON"),
    422: _other_body,
    429: lambda asked: use_up_minute(asked.client),
    500: _fails_with(ZeroDivisionError()),
    503: _fails_with(OperationalError("SELECT", {}, Exception("gone"))),
}


@pytest.fixture(autouse=True)
def _unpatched() -> Iterator[None]:
    yield
    PATCH.undo()


@pytest.mark.parametrize(("operation", "status"), list(_promised()))
def test_a_promised_status_is_answered(client: Client, operation: Operation, status: int) -> None:
    asked = Asked(client, operation)
    assert status in PROVOKE, f"say in PROVOKE how {status} comes about"
    PROVOKE[status](asked)
    assert asked.send().status_code == status
