"""The operations of /v1 as the URL map has them, for tests that are made from it.

A new operation is in the tests of ``test_every_operation.py`` at once. One whose path has an id
that ``FILLERS`` does not know fails there: add a line that makes such a thing and gives its id.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

from flask import Flask

from app.api.openapi.document import api_description
from app.auth.guard import OR
from app.factory import create_app
from app.policy.permissions import PERMISSIONS, expand_permissions
from app.values.ids import PREFIXES
from config import load_settings
from tests.make import (
    Client,
    events,
    make_asset,
    make_former_boundary,
    make_import,
    make_log,
    make_member,
    make_project,
    make_replay,
    make_webhook,
)
from tests.make.features import collection, feature

PUBLIC = {"/v1/openapi.json"}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

Ids = dict[str, str]

# How to make what an argument of a path names; each gets the ids that were made before it.
FILLERS: dict[str, Callable[[Client, Ids], str]] = {
    "project_id": lambda client, _: make_project(client)["id"],
    "boundary_id": lambda client, ids: make_former_boundary(client, ids["project_id"]),
    "asset_id": lambda client, ids: make_asset(client, ids["project_id"])["id"],
    "member_id": lambda client, _: make_member(client, "viewer").id,
    "webhook_id": lambda client, _: _webhook_with_past(client),
    "log_id": lambda client, ids: make_log(client, ids["webhook_id"], events(client)[0]["id"]),
    "replay_id": lambda client, ids: make_replay(client, ids["webhook_id"]),
    "event_id": lambda client, _: _event(client),
    "import_id": lambda client, _: make_import(client),
    "entry_id": lambda client, _: _entry(client),
}
# What must be done before an operation can succeed: posted to the path of what it is about.
BEFORE = {
    "DELETE /v1/projects/<project_id>": "/archive",
    "POST /v1/projects/<project_id>/restore": "/archive",
}
# What must be in the query of an operation.
QUERIES = {"GET /v1/projects/map": "?zoom=8"}
KINDS = {
    "member_id": "user",
    "entry_id": "audit_entry",
}  # of ids that are not called after their kind
NOBODYS = "01arz3ndektsv4rrffq69g5fav"  # well formed, and nothing has it
# What no identifier looks like.
MALFORMED = (
    "x",
    "proj_",
    "proj_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "proj_01arz3ndektsv4rrffq69g5fav0",
    "asset_01arz3ndektsv4rrffq69g5fav%00",
    "%00",
    "%ff%fe",
    "%F0%9F%8C%B2",
    "..%5c..",
    "null",
    "1 OR 1=1",
    "x" * 10_000,
)


class Operation(NamedTuple):
    """One method of one path."""

    method: str
    rule: str
    arguments: tuple[str, ...]
    needs: str

    @property
    def name(self) -> str:
        return f"{self.method} {self.rule}"

    def path(self, ids: Ids) -> str:
        """The path with these ids, and with what must be in the query. Raises LookupError, which
        says how to add what is missing."""
        path = self.rule
        for argument in self.arguments:
            if argument not in ids:
                raise LookupError(f"tests/api/operations.py: add {argument!r} to FILLERS")
            path = path.replace(f"<{argument}>", ids[argument])
        return path + QUERIES.get(self.name, "")

    def path_with(self, ids: Ids, parameter: str) -> str:
        """Likewise with one more parameter, which may be half of one."""
        path = self.path(ids)
        return f"{path}{'&' if '?' in path else '?'}{parameter}"


# In place of an operation where one of each thing is wanted.
EVERYTHING = Operation("", "", tuple(FILLERS), "")


@cache
def bare_app() -> Flask:
    """An application for its URL map and its description; it has no database."""
    with tempfile.TemporaryDirectory(prefix="canopy-") as folder:
        return create_app(load_settings({"INSTANCE_PATH": folder}))


@cache
def operations() -> tuple[Operation, ...]:
    """Every operation of /v1 that is not public, in order of path and method."""
    app = bare_app()
    found = [
        Operation(
            method,
            re.sub(r"<\w+:", "<", rule.rule),
            tuple(sorted(rule.arguments, key=rule.rule.index)),
            getattr(app.view_functions[rule.endpoint], "permission", ""),
        )
        for rule in app.url_map.iter_rules()
        for method in METHODS
        if rule.rule.startswith("/v1") and method in (rule.methods or ())
    ]
    return tuple(sorted(item for item in found if item.rule not in PUBLIC))


def named() -> list[Operation]:
    """Those that need a permission by name."""
    return [item for item in operations() if item.needs.split(OR)[0] in PERMISSIONS]


def addressed() -> list[Operation]:
    """Those whose path has an id."""
    return [item for item in operations() if item.arguments]


def fill(client: Client, operation: Operation) -> Ids:
    """One of each thing that the operation's path names, made for ``client``.

    Raises:
        LookupError: FILLERS has no line for an argument.
    """
    ids: Ids = {}
    for argument in operation.arguments:
        if argument not in FILLERS:
            raise LookupError(f"tests/api/operations.py: add {argument!r} to FILLERS")
        ids[argument] = FILLERS[argument](client, ids)
    return ids


def _webhook_with_past(client: Client) -> str:
    """A webhook of an account in which something has happened."""
    _event(client)
    webhook_id: str = make_webhook(client)["id"]
    return webhook_id


def _event(client: Client) -> str:
    make_project(client)
    event_id: str = events(client)[-1]["id"]
    return event_id


def _entry(client: Client) -> str:
    make_project(client)
    entry_id: str = client.get("/v1/audit-log").json["data"][0]["id"]
    return entry_id


def prepare(client: Client, operation: Operation, ids: Ids) -> None:
    """Bring the things that ``fill`` made into the state in which the operation succeeds."""
    if operation.rule.endswith("/undo"):
        ids["import_id"] = make_import(client, "applied")
    action = BEFORE.get(operation.name)
    if action is not None:
        client.post(operation.path(ids).removesuffix("/restore") + action)


@cache
def _document() -> dict[str, Any]:
    with bare_app().app_context():
        return api_description()


def described(operation: Operation) -> dict[str, Any]:
    """What the description says of an operation."""
    path = operation.rule.replace("<", "{").replace(">", "}")
    found: dict[str, Any] = _document()["paths"][path][operation.method.lower()]
    return found


def example_body(operation: Operation) -> Any:
    """The body that the description gives as an example, or None where none is taken."""
    content = described(operation).get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("example")


def body(operation: Operation, value: Any = ...) -> dict[str, Any]:
    """The options of a request with a body: a form for an operation that takes a file.

    Args:
        value: in place of the example.
    """
    value = example_body(operation) if value is ... else value
    content = described(operation).get("requestBody", {}).get("content", {})
    if "multipart/form-data" not in content:
        return {"json": value}
    return {"data": {"file": (BytesIO(collection(feature(name="A"))), "a.geojson")} | (value or {})}


def body_properties(operation: Operation) -> dict[str, dict[str, Any]]:
    """What the description says of each property of a body that can be set."""
    content = described(operation).get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    schema = schema.get("anyOf", [schema])[0]
    if "$ref" in schema:
        schema = _document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    properties = schema.get("properties", {})
    return {name: about for name, about in properties.items() if not about.get("readOnly")}


def absent_ids(operation: Operation) -> Ids:
    """Ids of the right form that nothing has."""
    kinds = {name: KINDS.get(name, name.removesuffix("_id")) for name in operation.arguments}
    return {name: PREFIXES[kind] + NOBODYS for name, kind in kinds.items()}


def lacking(needs: str) -> list[str]:
    """Every permission that neither is nor includes one that an operation needs."""
    return [name for name in PERMISSIONS if expand_permissions([name]).isdisjoint(needs.split(OR))]
