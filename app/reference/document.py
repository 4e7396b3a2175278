"""The operations of the OpenAPI document, by resource, for the reference page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from app.policy.files import BINARY
from app.reference.curl import curl_command, json_text
from app.reference.field_rows import FieldRow, field_rows, parameter_row, resolve_reference

_METHODS: Final = ("get", "post", "put", "delete")  # PATCH is beside PUT


@dataclass(frozen=True, slots=True)
class ResponseEntry:
    """A response of an operation, by its status."""

    status: str
    text: str
    fields: list[FieldRow]
    enveloped: bool  # True if the fields are in ``data``
    example: str | None


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    method: str  # "PUT or PATCH" where they are the same
    path: str
    summary: str
    description: list[str]  # paragraphs
    parameters: list[FieldRow]
    headers: list[FieldRow]
    body: list[FieldRow]
    alternative_body: str  # describes other forms of the body
    curl: str
    success: ResponseEntry
    errors: list[ResponseEntry]


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one resource."""

    name: str
    title: str
    text: str
    operations: list[Operation]


def operation_groups(document: dict[str, Any]) -> list[Group]:
    """Group the operations of an OpenAPI document by resource, in the document's order."""
    return [
        Group(
            tag["name"],
            tag["name"].replace("-", " ").capitalize(),
            tag.get("description", ""),
            [
                _operation_entry(document, method, path, item)
                for path, item in document["paths"].items()
                for method in _METHODS
                if method in item and tag["name"] in item[method]["tags"]
            ],
        )
        for tag in document["tags"]
    ]


def _operation_entry(
    document: dict[str, Any], method: str, path: str, item: dict[str, Any]
) -> Operation:
    operation = item[method]
    has_patch = method == "put" and "patch" in item
    parameters = [
        resolve_reference(document, parameter)
        for parameter in [*item.get("parameters", []), *operation.get("parameters", [])]
    ]
    headers = [parameter for parameter in parameters if parameter["in"] == "header"]
    others = [parameter for parameter in parameters if parameter["in"] != "header"]
    contents = operation.get("requestBody", {}).get("content", {})
    form = contents.get("multipart/form-data")
    content = form or contents.get("application/json", {})
    forms = content.get("schema", {}).get("oneOf") or [content.get("schema", {})]
    responses = [
        _response_entry(document, status, response)
        for status, response in sorted(operation["responses"].items())
    ]
    return Operation(
        id=operation["operationId"],
        method="PUT or PATCH" if has_patch else method.upper(),
        path=path,
        summary=operation["summary"].rstrip("."),
        description=operation.get("description", "").split("\n\n"),
        parameters=[parameter_row(document, parameter) for parameter in others],
        headers=[parameter_row(document, parameter) for parameter in headers],
        body=field_rows(document, forms[0], is_request=True),
        alternative_body=" ".join(
            resolve_reference(document, form)["description"] for form in forms[1:]
        ),
        curl=curl_command(
            "PATCH" if has_patch else method.upper(),
            path,
            query=_example_query(parameters),
            body=None if form else content.get("example"),
            form=form and form["example"],
            is_file=BINARY in operation["responses"].get("200", {}).get("content", {}),
        ),
        success=next(response for response in responses if response.status.startswith("2")),
        errors=[response for response in responses if not response.status.startswith("2")],
    )


def _example_query(parameters: list[dict[str, Any]]) -> str:
    """Return the query of an example request: required parameters, and a small page of a list."""
    in_query = [parameter for parameter in parameters if parameter["in"] == "query"]
    examples = {"per_page": 5} | {
        parameter["name"]: parameter["schema"]["examples"][0]
        for parameter in in_query
        if parameter.get("required")
    }
    names = [parameter["name"] for parameter in in_query if parameter["name"] in examples]
    query = "&".join(f"{name}={examples[name]}" for name in names)
    return f"?{query}" if query else ""


def _response_entry(
    document: dict[str, Any], status: str, response: dict[str, Any]
) -> ResponseEntry:
    resolved = resolve_reference(document, response)
    contents = resolved.get("content", {})
    only = next(iter(contents.values())) if len(contents) == 1 else {}
    content = contents.get("application/json", only)
    schema = resolve_reference(document, content.get("schema", {}))
    members = schema.get("properties", {})
    fields = field_rows(document, members.get("data", schema))
    example = json_text(content["example"]) if "example" in content else None
    return ResponseEntry(status, resolved["description"], fields, "data" in members, example)
