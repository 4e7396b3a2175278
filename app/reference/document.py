"""Prepares the OpenAPI document for the reference page: resolves references, flattens schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

# A multi-line array of numbers only, such as a position.
_NUMBERS = re.compile(r"\[\s+([-+.\d\seE,]+?)\s+\]")
_METHODS = ("get", "post", "put", "delete")


@dataclass(frozen=True, slots=True)
class Field:
    """A row of a table of parameters or members."""

    name: str
    type: str
    required: bool
    text: str


@dataclass(frozen=True, slots=True)
class ResponseEntry:
    """One status that an operation can return."""

    status: str
    text: str
    fields: list[Field]
    example: str | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, for display."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[Field]
    headers: list[Field]
    body: list[Field]
    alternative_body: str  # description of other forms that the body can have
    body_example: str | None
    success: ResponseEntry
    errors: list[ResponseEntry]


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one resource."""

    name: str
    text: str
    operations: list[Operation]


def groups(document: dict[str, Any]) -> list[Group]:
    """The operations of an OpenAPI document, grouped by resource, in the document's order."""
    return [
        Group(
            tag["name"],
            tag.get("description", ""),
            [
                _operation(document, method, path, item[method])
                for path, item in document["paths"].items()
                for method in _METHODS
                if method in item and tag["name"] in item[method]["tags"]
            ],
        )
        for tag in document["tags"]
    ]


def _operation(document: dict[str, Any], method: str, path: str, item: dict[str, Any]) -> Operation:
    parameters = [_resolve(document, each) for each in item.get("parameters", [])]
    content = item.get("requestBody", {}).get("content", {}).get("application/json", {})
    forms = content.get("schema", {}).get("oneOf") or [content.get("schema", {})]
    responses = [
        _response(document, status, response)
        for status, response in sorted(item["responses"].items())
    ]
    return Operation(
        id=item["operationId"],
        method=method.upper(),
        path=path,
        summary=item["summary"].rstrip("."),
        description=item.get("description", ""),
        parameters=[_parameter(document, each) for each in parameters if each["in"] != "header"],
        headers=[_parameter(document, each) for each in parameters if each["in"] == "header"],
        body=_fields(document, forms[0], is_request=True),
        alternative_body=" ".join(form["description"] for form in forms[1:]),
        body_example=_example(content),
        success=next(each for each in responses if each.status.startswith("2")),
        errors=[each for each in responses if not each.status.startswith("2")],
    )


def _response(document: dict[str, Any], status: str, response: dict[str, Any]) -> ResponseEntry:
    resolved = _resolve(document, response)
    content = resolved.get("content", {}).get("application/json", {})
    schema = _resolve(document, content.get("schema", {}))
    data = schema.get("properties", {}).get("data", schema)
    fields = _fields(document, data)
    return ResponseEntry(status, resolved["description"], fields, _example(content))


def _fields(
    document: dict[str, Any], schema: dict[str, Any], *, is_request: bool = False
) -> list[Field]:
    """The members of an object, or of a list's objects; in a request without read-only ones."""
    resolved = _resolve(document, schema)
    if "items" in resolved:
        resolved = _resolve(document, resolved["items"])
    required = resolved.get("required", [])
    return [
        _field(document, name, member, name in required)
        for name, member in resolved.get("properties", {}).items()
        if not (is_request and ("not" in member or member.get("readOnly")))
    ]


def _parameter(document: dict[str, Any], parameter: dict[str, Any]) -> Field:
    described = parameter.get("schema", {}) | {
        key: parameter[key] for key in ("description",) if key in parameter
    }
    return _field(document, parameter["name"], described, parameter.get("required", False))


def _field(document: dict[str, Any], name: str, schema: dict[str, Any], required: bool) -> Field:
    resolved = _resolve(document, schema)
    notes: list[str] = [schema.get("description") or resolved.get("description", "")]
    if "enum" in resolved:
        notes.append("One of " + ", ".join(f"`{each}`" for each in resolved["enum"] if each) + ".")
    notes.append(_range(resolved))
    if resolved.get("default") is not None:
        notes.append(f"Default `{resolved['default']}`.")
    return Field(name, _type(resolved), required, " ".join(note for note in notes if note))


def _range(schema: dict[str, Any]) -> str:
    if "maxLength" in schema:
        return f"{schema.get('minLength', 0)} to {schema['maxLength']:,} characters."
    if "minimum" in schema and "maximum" in schema:
        return f"{schema['minimum']:,} to {schema['maximum']:,}."
    return ""


def _type(schema: dict[str, Any]) -> str:
    if "oneOf" in schema:
        choices = [each.get("$ref", "").rpartition("/")[2] for each in schema["oneOf"]]
        return " or ".join(choice or "null" for choice in choices)
    kinds = schema.get("type", "object")
    names = kinds if isinstance(kinds, list) else [kinds]
    shown = [str(schema.get("format", name)) if name == "string" else str(name) for name in names]
    return " or ".join(shown)


def _example(content: dict[str, Any]) -> str | None:
    example = content.get("example")
    if example is None:
        return None
    text = orjson.dumps(example, option=orjson.OPT_INDENT_2).decode()
    return _NUMBERS.sub(lambda found: "[" + " ".join(found[1].split()) + "]", text)


def _resolve(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """The node, with its ``$ref`` followed. A choice between one schema and null is that schema."""
    for key in ("allOf", "anyOf", "oneOf"):
        choices = [each for each in node.get(key, []) if each.get("type") != "null"]
        if len(choices) == 1:
            return _resolve(document, choices[0])
    if "$ref" not in node:
        return node
    target: Any = document
    for step in node["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return _resolve(document, target)
