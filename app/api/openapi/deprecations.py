"""Marking what is deprecated in the OpenAPI description."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from app.api.openapi.components import header_refs
from app.policy import deprecations
from app.policy.deprecations import Deprecation

HEADERS: Final = ("Deprecation", "Sunset", "Link")  # in responses to requests that use it
_METHODS: Final = {
    "GET": ("get",),
    "POST": ("post",),
    "PUT": ("put", "patch"),
    "DELETE": ("delete",),
}
_SCHEMAS: Final = "#/components/schemas/"


def mark_deprecations(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with ``deprecated`` and ``x-sunset`` where something is deprecated.

    Raises:
        LookupError: it has no such operation, parameter or field.
    """
    marked = deepcopy(document)
    for row in deprecations.DEPRECATIONS:
        method, path = row.operation.split(" ")
        item = marked["paths"].get(path, {})
        operations = [item[name] for name in _METHODS[method] if name in item]
        if not operations:
            raise LookupError(f"There is no operation {row.operation}.")
        for operation in operations:
            _mark_operation(marked, operation, row)
    return marked


def _mark_operation(document: dict[str, Any], operation: dict[str, Any], row: Deprecation) -> None:
    marks = {"deprecated": True} | ({"x-sunset": row.sunset.isoformat()} if row.sunset else {})
    if row.name:
        places = list(_deprecated_descriptions(document, operation, row.name))
        if not places:
            raise LookupError(f"{row.operation} has no parameter or field {row.name}.")
        for place in places:
            place |= marks
    else:
        operation |= marks
    text = f"Deprecated since {row.since}: {row.what}. {row.replacement}"
    operation["description"] = f"{operation.get('description', '')}\n\n{text}".strip()
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            response["headers"] = response.get("headers", {}) | header_refs(*HEADERS)


def _deprecated_descriptions(
    document: dict[str, Any], operation: dict[str, Any], name: str
) -> list[dict[str, Any]]:
    """The descriptions of the parameters and body fields with this name."""
    parameters = operation.get("parameters", ())
    places = [parameter for parameter in parameters if parameter.get("name") == name]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for form in content["schema"].get("oneOf", [content["schema"]]):
            target = form.get("$ref", "").removeprefix(_SCHEMAS)
            schema = document["components"]["schemas"][target] if target else form
            if name in schema.get("properties", {}):
                places.append(schema["properties"][name])
    return places
