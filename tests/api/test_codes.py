"""The codes of the constraints that the description has, for each field and parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from app.policy.causes import INVALID
from tests.api.operations import EVERYTHING, described, fill, operations
from tests.make import Client

Schema = dict[str, Any]
# By keyword: the code, and a value that breaks the constraint.
BREACHES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "minLength": ("too_short", lambda _: ""),
    "maxLength": ("too_long", lambda most: "x" * (most + 1)),
    "minimum": ("too_small", lambda least: least - 1),
    "maximum": ("too_large", lambda most: most + 1),
    "enum": ("not_one_of", lambda words: "bees" if isinstance(words[0], str) else 99),
    "pattern": ("wrong_format", lambda _: "é! " * 8),  # of words and ids
    "format": ("wrong_format", lambda _: "bees"),
    "minItems": ("too_short", lambda _: []),
    "maxItems": ("too_many", lambda most: [0] * (most + 1)),
    "maxProperties": ("too_many", lambda most: dict.fromkeys(map(str, range(most + 1)), 1)),
}
# Spaces alone are too short, and codes of countries are words.
NO_CONSTRAINTS = [
    ("pattern", r"\S"),
    ("pattern", "^[A-Z]{2}$"),
    ("pattern", "^[A-Za-z]{2}$"),
    ("minLength", 0),
    ("minItems", 0),
]
NO_CODES_OF_FIELDS = {"not_found", "read_only", "invalid", "unknown", "required", "not_unique"}


def _resolved(document: Schema, schema: Schema) -> tuple[Schema, bool]:
    """The schema of the values, and whether null is one."""
    choices = schema.get("anyOf") or schema.get("oneOf") or [schema]
    is_nullable = {"type": "null"} in choices or "null" in schema.get("type", ())
    chosen = next(choice for choice in choices if choice.get("type") != "null")
    while "$ref" in chosen:
        chosen = document["components"]["schemas"][chosen["$ref"].rpartition("/")[2]]
    kinds = chosen.get("type")
    if isinstance(kinds, list):
        kinds = next(each for each in kinds if each != "null")
    return chosen | ({"type": kinds} if kinds else {}), is_nullable


def _breaches(document: Schema, schema: Schema, *, in_query: bool) -> Iterator[tuple[str, Any]]:
    """Yield (code, a value that breaks the constraint) of one field."""
    known, is_nullable = _resolved(document, schema)
    kind = known.get("type")
    if kind is None:  # any value
        return
    if not in_query and not is_nullable:
        yield "null", None
    if not in_query or kind != "string":
        is_geometry = "coordinates" in known.get("properties", ())
        code = "not_an_object" if is_geometry else "wrong_type"
        yield code, 5 if kind in ("string", "object") else "bees"
    for keyword, (code, breach) in BREACHES.items():
        if keyword in known and (keyword, known[keyword]) not in NO_CONSTRAINTS:
            yield code, breach(known[keyword])
    if kind == "array":
        for code, value in _breaches(document, known["items"], in_query=in_query):
            yield code, [value]


def _bodies(document: Schema, content: Schema) -> Iterator[tuple[Schema, set[tuple[str, str]]]]:
    """Yield bodies, each with the (field, code) that its refusal must name."""
    known, _ = _resolved(document, content["schema"])
    example = content["example"]
    yield example | {"bees": 1}, {("bees", "unknown")}
    for name in known.get("required", ()):
        yield {key: example[key] for key in example if key != name}, {(name, "required")}
    fields = {name: field for name, field in known["properties"].items() if "readOnly" not in field}
    yield from _combined(document, fields, example, in_query=False)


def _combined(
    document: Schema, fields: Schema, others: Schema, *, in_query: bool = True
) -> Iterator[tuple[Schema, set[tuple[str, str]]]]:
    """Yield values in which several fields break their constraints at once."""
    left = {name: list(_breaches(document, s, in_query=in_query)) for name, s in fields.items()}
    while any(left.values()):
        broken = {name: breaches.pop() for name, breaches in left.items() if breaches}
        values = {name: value for name, (_, value) in broken.items()}
        yield others | values, {(name, code) for name, (code, _) in broken.items()}


def _refused(response: Any, status: int) -> set[tuple[str, str]]:
    """The fields and codes of a refusal; of an inner field the outermost."""
    assert response.status_code == status, response.get_data(as_text=True)[:500]
    details = response.json["error"]["details"]
    return {(each["field"].partition(".")[0], each["code"]) for each in details}


def test_each_constraint_has_its_code(client: Client, subtests: pytest.Subtests) -> None:
    things, seen = fill(client, EVERYTHING), set[str]()
    document = client.get("/v1/openapi.json").json
    for operation in operations():
        about, path = described(operation), operation.path(things).partition("?")[0]
        with subtests.test(operation.name):
            content = about.get("requestBody", {}).get("content", {}).get("application/json")
            for body, broken in _bodies(document, content) if content else ():
                response = client.send(operation.method, path, json=body)
                assert broken <= _refused(response, 422), body
                seen |= {code for _, code in broken}
            parameters = {
                each["name"]: each["schema"]
                for each in about.get("parameters", ())
                if each.get("in") == "query" and each["name"] != "metadata"
            }
            for query, broken in _combined(document, parameters, {}):
                response = client.send(operation.method, f"{path}?{urlencode(query)}")
                assert broken <= _refused(response, 400), query
                seen |= {code for _, code in broken}
            if operation.method == "GET":
                assert ("bees", "unknown") in _refused(client.get(f"{path}?bees=1"), 400)
    assert seen >= INVALID.keys() - NO_CODES_OF_FIELDS
    assert _refused(client.get("/v1/projects?page=1&page=1"), 400) == {("page", "not_unique")}
