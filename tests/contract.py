"""Comparing real answers with the OpenAPI description.

The client of the tests sends every answer of /v1 through ``check_contract``, so that the whole
suite holds the description to the truth: the status is documented, each header is, and the body
fits the schema.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from flask import Flask
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from werkzeug.test import TestResponse

from app.api.openapi import description

# Headers of HTTP itself and of every page, which the description does not repeat.
_GENERAL = {
    "content-type",
    "content-length",
    "x-frame-options",
    "x-content-type-options",
    "referrer-policy",
    "cross-origin-opener-policy",
    "permissions-policy",
    "content-security-policy",
    "strict-transport-security",
}


def check_contract(app: Flask, response: TestResponse) -> None:
    """Assert that an answer of /v1 is one that the description promises."""
    request = response.request
    rule = _rule(app, request.path, request.method)
    if rule is None:
        return
    document = _document(app)
    operation = document["paths"][rule][request.method.lower()]
    where = f"{request.method} {rule} -> {response.status_code}"
    documented = operation["responses"].get(str(response.status_code))
    assert documented is not None, f"{where} is not documented"
    documented = _resolve(document, documented)
    headers = {name.lower() for name in documented.get("headers", {})}
    extra = {name.lower() for name, _ in response.headers} - headers - _GENERAL
    assert not extra, f"{where} sends undocumented headers {extra}"
    content = documented.get("content", {}).get("application/json")
    if content is None:
        assert not response.get_data(), f"{where} has a body that is not documented"
        return
    errors = list(_validator(app, content["schema"]["$ref"]).iter_errors(response.json))
    assert not errors, f"{where}: {errors[0].message} at {list(errors[0].absolute_path)}"


@cache
def _document(app: Flask) -> dict[str, Any]:
    with app.app_context():
        return description()


@cache
def _validator(app: Flask, pointer: str) -> Draft202012Validator:
    resource = Resource.from_contents(_document(app), default_specification=DRAFT202012)
    registry = Registry().with_resource("urn:canopy", resource)
    schema = {"$ref": f"urn:canopy{pointer}"}
    return Draft202012Validator(schema, registry=registry, format_checker=FormatChecker())


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
    template = rule.rule.replace("<", "{").replace(">", "}")
    operations = _document(app)["paths"].get(template, {})
    return template if method.lower() in operations else None
