"""The operations of the OpenAPI document, by resource, for the reference page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from app.reference.curl import curl, json_text
from app.reference.fields import FieldRow, fields_of, parameter_row, resolve

_METHODS = ("get", "post", "put", "delete")  # PATCH stands beside PUT
_BINARY: Final = "application/octet-stream"  # of a file that no terminal shows


@dataclass(frozen=True, slots=True)
class ResponseEntry:
    """A response of an operation, by its status."""

    status: str
    text: str
    fields: list[FieldRow]
    enveloped: bool  # the fields are those of ``data``
    example: str | None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation."""

    id: str
    method: str  # "PUT or PATCH" if both do the same
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


def groups(document: dict[str, Any]) -> list[Group]:
    """Group the operations of an OpenAPI document by resource, in the document's order."""
    return [
        Group(
            tag["name"],
            tag["name"].replace("-", " ").capitalize(),
            tag.get("description", ""),
            [
                _operation(document, method, path, item)
                for path, item in document["paths"].items()
                for method in _METHODS
                if method in item and tag["name"] in item[method]["tags"]
            ],
        )
        for tag in document["tags"]
    ]


def _operation(document: dict[str, Any], method: str, path: str, item: dict[str, Any]) -> Operation:
    found = item[method]
    both = method == "put" and "patch" in item
    parameters = [
        resolve(document, each)
        for each in [*item.get("parameters", []), *found.get("parameters", [])]
    ]
    contents = found.get("requestBody", {}).get("content", {})
    form = contents.get("multipart/form-data")
    content = form or contents.get("application/json", {})
    forms = content.get("schema", {}).get("oneOf") or [content.get("schema", {})]
    responses = [
        _response(document, status, response)
        for status, response in sorted(found["responses"].items())
    ]
    return Operation(
        id=found["operationId"],
        method="PUT or PATCH" if both else method.upper(),
        path=path,
        summary=found["summary"].rstrip("."),
        description=found.get("description", "").split("\n\n"),
        parameters=[parameter_row(document, each) for each in parameters if each["in"] != "header"],
        headers=[parameter_row(document, each) for each in parameters if each["in"] == "header"],
        body=fields_of(document, forms[0], is_request=True),
        alternative_body=" ".join(resolve(document, form)["description"] for form in forms[1:]),
        curl=curl(
            "PATCH" if both else method.upper(),
            path,
            query=_query(parameters),
            body=None if form else content.get("example"),
            form=form and form["example"],
            is_file=_BINARY in found["responses"].get("200", {}).get("content", {}),
        ),
        success=next(each for each in responses if each.status.startswith("2")),
        errors=[each for each in responses if not each.status.startswith("2")],
    )


def _query(parameters: list[dict[str, Any]]) -> str:
    """The query of an example request: the required parameters, and a small page of a list."""
    examples = {"per_page": 5} | {
        each["name"]: each["schema"]["examples"][0]
        for each in parameters
        if each["in"] == "query" and each.get("required")
    }
    named = [each["name"] for each in parameters if each["in"] == "query"]
    query = "&".join(f"{name}={examples[name]}" for name in named if name in examples)
    return f"?{query}" if query else ""


def _response(document: dict[str, Any], status: str, response: dict[str, Any]) -> ResponseEntry:
    resolved = resolve(document, response)
    contents = resolved.get("content", {})
    only = next(iter(contents.values())) if len(contents) == 1 else {}
    content = contents.get("application/json", only)
    schema = resolve(document, content.get("schema", {}))
    members = schema.get("properties", {})
    fields = fields_of(document, members.get("data", schema))
    example = json_text(content["example"]) if "example" in content else None
    return ResponseEntry(status, resolved["description"], fields, "data" in members, example)
