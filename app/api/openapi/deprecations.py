"""Marking what is deprecated in the OpenAPI description."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from app.api.openapi.components import header_refs
from app.policy import deprecations
from app.policy.deprecations import Deprecation

HEADERS: Final = ("Deprecation", "Sunset", "Link")  # of a response to a request that uses it
_METHODS: Final = {
    "GET": ("get",),
    "POST": ("post",),
    "PUT": ("put", "patch"),
    "DELETE": ("delete",),
}
_SCHEMAS: Final = "#/components/schemas/"


def mark_deprecations(document: dict[str, Any]) -> dict[str, Any]:
    """Add ``deprecated`` and ``x-sunset`` to the document where something is. Returns it.

    Raises:
        LookupError: it has no such operation, parameter or field.
    """
    marked = deepcopy(document)
    for each in deprecations.DEPRECATIONS:
        method, path = each.operation.split(" ")
        item = marked["paths"].get(path, {})
        found = [item[name] for name in _METHODS[method] if name in item]
        if not found:
            raise LookupError(f"There is no operation {each.operation}.")
        for operation in found:
            _mark_operation(marked, operation, each)
    return marked


def _mark_operation(document: dict[str, Any], operation: dict[str, Any], it: Deprecation) -> None:
    marks = {"deprecated": True} | ({"x-sunset": it.sunset.isoformat()} if it.sunset else {})
    if it.name:
        places = list(_places(document, operation, it.name))
        if not places:
            raise LookupError(f"{it.operation} has no parameter or field {it.name}.")
        for place in places:
            place |= marks
    else:
        operation |= marks
    text = f"Deprecated since {it.since}: {it.what}. {it.replacement}"
    operation["description"] = f"{operation.get('description', '')}\n\n{text}".strip()
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            response["headers"] = response.get("headers", {}) | header_refs(*HEADERS)


def _places(document: dict[str, Any], operation: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The descriptions of the parameters and of the fields of the body that have this name."""
    found = [each for each in operation.get("parameters", ()) if each.get("name") == name]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for form in content["schema"].get("oneOf", [content["schema"]]):
            target = form.get("$ref", "").removeprefix(_SCHEMAS)
            schema = document["components"]["schemas"][target] if target else form
            if name in schema.get("properties", {}):
                found.append(schema["properties"][name])
    return found
