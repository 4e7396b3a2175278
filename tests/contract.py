"""Comparing real answers with the OpenAPI description.

The client of the tests sends every answer through ``check_contract``, so that the whole suite holds
the description to the truth: the status is documented, the headers are those that are, none less
and none more, and the body fits the schema. An answer 5xx is a fault wherever it comes, unless the
test says that it provokes it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Hashable
from typing import Any, Final

from flask import Flask
from flask_smorest.spec.plugins import FlaskPlugin
from jsonschema_rs import Draft202012, Draft202012Validator, Registry
from werkzeug.test import TestResponse

from app.api.openapi.document import api_description
from app.geometry.problems import PROBLEM_CODES
from app.http.compression import zstd
from app.policy import causes, deprecations, eudr

# The 5xx that the running test says it provokes: ``@pytest.mark.provokes(503)``.
provoked: frozenset[int] = frozenset()

# Headers of HTTP itself and of every page, which the description does not repeat.
_GENERAL: Final = {
    "content-type",
    "content-length",
    "x-frame-options",
    "x-content-type-options",
    "referrer-policy",
    "cross-origin-opener-policy",
    "permissions-policy",
    "content-security-policy",
    "strict-transport-security",
    "vary",
    "content-encoding",
    "access-control-allow-origin",
    "access-control-expose-headers",
}
# What a refusal comes with on every path, also where no operation is.
_WITH_STATUS: Final = {
    401: "WWW-Authenticate",
    405: "Allow",
    429: "Retry-After",
    503: "Retry-After",
}
_OF_DEPRECATION: Final = {"deprecation", "sunset"}
# Only some answers have them; a 403 has the challenge if a scope is missing, an
# import the time to look again while a worker is at it.
_NOT_ALWAYS: Final = {
    "idempotency-replayed",
    "www-authenticate",
    "retry-after",
    *_OF_DEPRECATION,
}
# Those that an instance leaves out without its store, or when it limits nothing.
_LIMITS: Final = {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"}

# The codes of details.
_INVALID: Final = {*causes.INVALID, *PROBLEM_CODES, *eudr.PROBLEMS}
_CODES: Final[dict[int, set[str]]] = {400: _INVALID, 422: _INVALID, 403: {*causes.FORBIDDEN}}

_ADDRESS: Final = "urn:canopy"
_KEY: Final = "tests.contract"  # of the extension that an application has its description in


class _Description:
    """The description of applications with the same routes, of which tests make hundreds."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._registry = Registry([(_ADDRESS, document)], draft=Draft202012)
        self._validators: dict[str, Draft202012Validator] = {}

    def validator(self, pointer: str) -> Draft202012Validator:
        if pointer not in self._validators:
            schema = {"$ref": _ADDRESS + pointer}
            made = Draft202012Validator(schema, registry=self._registry, validate_formats=True)
            self._validators[pointer] = made
        return self._validators[pointer]


_descriptions: dict[Hashable, _Description] = {}


def check_contract(app: Flask, response: TestResponse) -> None:
    """Assert that an answer is one that the description promises, where it has the operation."""
    request, status = response.request, response.status_code
    where = f"{request.method} {request.path} -> {status}"
    if status >= 500 and status not in provoked:
        raise AssertionError(f"{where} was not provoked: {response.get_data(as_text=True)[:500]}")
    sent = {name.lower() for name, _ in response.headers}
    assert "x-request-id" in sent, f"{where} has no X-Request-Id"
    error = (response.get_json(silent=True) or {}).get("error")
    if status in _WITH_STATUS and error:
        assert _WITH_STATUS[status].lower() in sent, f"{where} has no {_WITH_STATUS[status]}"
    if status in _CODES and isinstance(error, dict):  # of OAuth it is a word
        codes = {detail["code"] for detail in error["details"]}
        assert codes <= _CODES[status], f"{where} has the codes {codes}"
        assert status != 403 or [detail["field"] for detail in error["details"]] == [""], where
    rule = _rule(app, request.path, request.method)
    if rule is not None:
        _check_operation(app, response, rule, sent)


def decoded(body: bytes, coding: str | None) -> bytes:
    """A body without its content coding."""
    match coding:
        case None:
            return body
        case "gzip":
            return zlib.decompress(body, zlib.MAX_WBITS | 16)
        case "zstd":
            return bytes(zstd.decompress(body))
    raise AssertionError(f"{coding} is no coding of this service")


def _check_operation(app: Flask, response: TestResponse, rule: str, sent: set[str]) -> None:
    document = _description(app).document
    method = "get" if response.request.method == "HEAD" else response.request.method.lower()
    responses = document["paths"][rule][method]["responses"]
    where = f"{response.request.method} {rule} -> {response.status_code}"
    documented = responses.get(str(response.status_code))
    assert documented is not None, f"{where} is not documented"
    headers = _headers(document, documented)
    if "deprecation" in sent:  # on errors too
        headers |= {*_OF_DEPRECATION, "link"}
    elif "deprecation" in headers:
        headers -= {"link"} - sent
    assert not sent - headers - _GENERAL, f"{where} sends undocumented {sent - headers - _GENERAL}"
    if response.status_code == 304 and "link" not in _headers(document, responses["200"]):
        headers -= {"link"}  # of lists only
    if response.mimetype == "application/json":
        headers -= {"content-disposition"}  # of files only
    elif "content-disposition" in sent:
        headers -= {"link", "etag"}  # of the lists that are a file if the client wants that
    unlimited = (
        app.config["SETTINGS"].rate_limit_disabled
        or app.extensions["canopy_valkey"].outages
        or response.status_code >= 500  # it may have failed before the plan was known
    )
    missing = headers - sent - _NOT_ALWAYS - (_LIMITS if unlimited else set())
    assert not missing, f"{where} does not send {missing}"
    contents = _resolve(document, documented).get("content", {})
    if not contents or response.request.method == "HEAD":
        assert not response.get_data(), f"{where} has a body that is not documented"
        return
    content = contents.get(response.content_type)
    assert content is not None, f"{where} is {response.content_type}, which is not documented"
    if content["schema"].get("format") == "binary":
        return
    body = json.loads(decoded(response.get_data(), response.headers.get("Content-Encoding")))
    for error in _description(app).validator(content["schema"]["$ref"]).iter_errors(body):
        raise AssertionError(f"{where}: {error.message} at {error.instance_path}")


def _description(app: Flask) -> _Description:
    if _KEY not in app.extensions:
        routes = frozenset((rule.rule, rule.endpoint) for rule in app.url_map.iter_rules())
        key = routes, deprecations.DEPRECATIONS
        if key not in _descriptions:
            with app.app_context():
                _descriptions[key] = _Description(api_description())
        app.extensions[_KEY] = _descriptions[key]
    found: _Description = app.extensions[_KEY]
    return found


def _headers(document: dict[str, Any], answer: dict[str, Any]) -> set[str]:
    """The names of the headers that the description gives an answer, in lower case."""
    return {name.lower() for name in _resolve(document, answer).get("headers", {})}


def _resolve(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return document["components"]["responses"][name]
    return node


def _rule(app: Flask, path: str, method: str) -> str | None:
    """The path template of a documented operation, or None."""
    adapter = app.url_map.bind("localhost")
    try:
        rule, _ = adapter.match(path, method, return_rule=True)
    except Exception:
        return None
    template = FlaskPlugin.flaskpath2openapi(rule.rule)
    operations = _description(app).document["paths"].get(template, {})
    documented = "get" if method == "HEAD" else method.lower()
    return template if documented in operations else None
