"""Single requests: what fits the description, and what just does not.

Whatever comes, the answer is none of 5xx, is one that the description promises (every answer of the
tests' client is compared with it), and a body that the description refuses is refused.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any, Final

import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from schemathesis.core import NotSet
from schemathesis.generation import GenerationMode
from werkzeug.test import TestResponse

from app.api.openapi.document import api_description
from tests.api.operations import BEFORE, Operation, fill, prepare
from tests.make import Client, make_account

_SENT_BY_OURSELVES: Final = {"authorization", "content-type", "content-length", "host", "cookie"}
# Values of a path that are no id, besides those that the description gives.
_ODD_IDS: Final = st.sampled_from(["%00", "x", "proj_", "%ff", "🌲", "..", " "])


def run(app: Flask, operation: Operation, *, number: int, start: int) -> Counter[int]:
    """Send this many requests of one operation, and count the statuses of the answers.

    Half of them fit the description, half just do not. The same seed (``start``) makes the same
    requests.
    """
    answers: Counter[int] = Counter()
    for mode in GenerationMode:
        answers += _run(app, operation, mode, number // 2, start)
    return answers


def _run(
    app: Flask, operation: Operation, mode: GenerationMode, number: int, start: int
) -> Counter[int]:
    client, answers = make_account(app), Counter[int]()
    ids = fill(client, operation)

    @seed(start)
    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        _strategy(app, operation, mode),
        _examples(app, operation),
        st.sampled_from((True,) * 5 + (False,)),
        _ODD_IDS,
    )
    def send(case: Any, examples: dict[str, str], real: bool, odd: str) -> None:
        places = _ids_of(client, operation, ids) if real else dict.fromkeys(ids, odd)
        case.query = {**(case.query or {}), **examples}
        response = _send(client, operation, case, places)
        answers[response.status_code] += 1
        judge(app, operation, case, response)

    send()
    return answers


def _ids_of(client: Client, operation: Operation, ids: dict[str, str]) -> dict[str, str]:
    """The ids of things that are there; made again where the last request spent them."""
    if (
        operation.method == "DELETE"
        or operation.name in BEFORE
        or operation.rule.endswith("/archive")
    ):
        ids.update(fill(client, operation))
        prepare(client, operation, ids)
    return ids


@cache
def _document(app: Flask) -> dict[str, Any]:
    with app.app_context():
        return api_description()


@cache
def _schema(app: Flask) -> Any:
    return schemathesis.openapi.from_dict(_document(app))


def _strategy(app: Flask, operation: Operation, mode: GenerationMode) -> st.SearchStrategy[Any]:
    made: Any = _schema(app)[_path(operation)][operation.method]
    if mode is GenerationMode.NEGATIVE and not (made.body or made.query or made.headers):
        mode = GenerationMode.POSITIVE
    strategy: st.SearchStrategy[Any] = made.as_strategy(generation_mode=mode)
    return strategy


@cache
def _examples(app: Flask, operation: Operation) -> st.SearchStrategy[dict[str, str]]:
    """Some of the query's parameters that have an example: such a value is hardly ever made up."""
    described = _document(app)["paths"][_path(operation)][operation.method.lower()]
    found = {
        parameter["name"]: st.sampled_from(parameter["schema"]["examples"])
        for parameter in described.get("parameters", ())
        if parameter.get("in") == "query" and "examples" in parameter["schema"]
    }
    return st.fixed_dictionaries({}, optional=found)


def _path(operation: Operation) -> str:
    return operation.rule.replace("<", "{").replace(">", "}")


def _send(client: Client, operation: Operation, case: Any, ids: dict[str, str]) -> TestResponse:
    headers = {
        name: str(value)
        for name, value in (case.headers or {}).items()
        if name.lower() not in _SENT_BY_OURSELVES and _is_sendable(f"{name}{value}")
    }
    query = {name: _text(value) for name, value in (case.query or {}).items()}
    options: dict[str, Any] = {"query_string": query} if query else {}
    if isinstance(case.body, bytes):
        options["data"] = case.body
        headers["Content-Type"] = "application/json"
    elif not isinstance(case.body, NotSet) and case.body is not None:
        options["json"] = case.body
    path = operation.path(ids).partition("?")[0]  # what must be in the query is made up, too
    return client.send(operation.method, path, headers=headers, **options)


def _is_sendable(text: str) -> bool:
    """Whether a server would let a header pass: printable, and Latin-1."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return not any(ord(letter) < 32 or ord(letter) == 127 for letter in text)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def judge(app: Flask, operation: Operation, case: Any, response: TestResponse) -> None:
    """Assert that nothing broke, and that what the description refuses was refused."""
    where = f"{operation.name} {case.query} {case.body!r:.300} -> {response.status_code}"
    assert response.status_code < 500, where
    if response.status_code < 300 and isinstance(case.body, dict):
        ignored = _read_only(app, operation)
        body = {k: _trimmed(v) for k, v in case.body.items() if k not in ignored}
        errors = list(_validator(app, operation).iter_errors(body))
        assert not errors or "coordinates" in case.body, f"{where}: {errors[0].message}"


@cache
def _read_only(app: Flask, operation: Operation) -> set[str]:
    """The fields of a body that are described as read-only: they are not looked at."""
    schema = _body_schema(app, operation)
    if "$ref" in schema:
        schema = _document(app)["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    properties = schema.get("properties", {})
    return {name for name, about in properties.items() if about.get("readOnly")}


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


@cache
def _validator(app: Flask, operation: Operation) -> Draft202012Validator:
    components = _document(app)["components"]
    return Draft202012Validator({"components": components, **_body_schema(app, operation)})


def _body_schema(app: Flask, operation: Operation) -> dict[str, Any]:
    described = _document(app)["paths"][_path(operation)][operation.method.lower()]
    content = described.get("requestBody", {"content": {"application/json": {"schema": {}}}})
    schema: dict[str, Any] = content["content"]["application/json"]["schema"]
    return schema
