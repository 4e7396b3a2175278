"""The OpenAPI 3.1 description of /v1, as one document."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any, Final

from flask import Flask, current_app

from app.api.documentation import CanopyApi, permission_sentence
from app.values.strict_json import dumps
from app.values.version import VERSION

CONFIG: Final = {
    "API_TITLE": "Canopy",
    "API_VERSION": VERSION,
    "OPENAPI_VERSION": "3.1.0",
    "API_SPEC_OPTIONS": {
        "info": {
            "description": "Forest projects, the assets inside them, and the account they belong "
            "to. Every body is JSON; every request carries `Authorization: Bearer <token>`.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/", "description": "This service"}],
    },
}


def init_app(app: Flask) -> CanopyApi:
    """Bind flask-smorest, with which the resources of /v1 are registered."""
    api = CanopyApi()
    api.init_app(app)
    return api


def description() -> dict[str, Any]:
    """The OpenAPI document of the current application."""
    api = current_app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
    document: dict[str, Any] = deepcopy(api.spec.to_dict())
    for operations in document["paths"].values():
        for method, operation in operations.items():
            if isinstance(operation, dict):
                _finish(method, operation)
    _describe_sparse_lists(document)
    return document


@cache
def description_text() -> bytes:
    """The same as JSON; it does not change while the process lives."""
    return dumps(description())


def _describe_sparse_lists(document: dict[str, Any]) -> None:
    """Describe the records of lists that take the parameter ``fields``: whole, or parts of them."""
    schemas = document["components"]["schemas"]
    for path in document["paths"].values():
        parameters = path.get("get", {}).get("parameters", ())
        if not any(each.get("name") == "fields" for each in parameters):
            continue
        answer = path["get"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        data = schemas[_last(answer)]["properties"]["data"]
        if "$ref" not in data["items"]:  # of two lists with one schema, the second
            continue
        whole = _last(data["items"]["$ref"])
        schemas[f"{whole}Fields"] = schemas[whole] | {
            "description": "The fields that the parameter `fields` named.",
            "required": ["id"],
        }
        parts = {"$ref": f"#/components/schemas/{whole}Fields"}
        data["items"] = {"anyOf": [data["items"], parts]}


def _last(reference: str) -> str:
    return reference.rpartition("/")[2]


def _finish(method: str, operation: dict[str, Any]) -> None:
    """Add to an operation what flask-smorest has no word for: header parameters, permission,
    a second form of the body. PATCH, the same operation as PUT, gets an id of its own."""
    if method == "patch":
        operation["operationId"] = operation["operationId"].replace("update", "patch", 1)
    if (also := operation.pop("x-body-also", None)) is not None:
        content = operation["requestBody"]["content"]["application/json"]
        content["schema"] = {"oneOf": [content["schema"], also]}
    names = operation.pop("x-parameters")
    operation.setdefault("parameters", []).extend(
        {"$ref": f"#/components/parameters/{name}"} for name in names
    )
    sentence = permission_sentence(operation["x-permission"])
    stated = operation.get("description", "")
    operation["description"] = f"{stated}\n\n{sentence}".strip()
