"""The schema of a collection (part 5), and what it can be filtered by (part 3), as JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any, Final

import orjson
from sqlalchemy import bindparam

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.http.urls import absolute_url
from app.lists.query import ListQuery
from app.lists.statements import ListStatement, list_statement
from app.ogc.collections import Collection
from app.policy.fields import Field
from app.policy.kinds import CHOICE, TEXT
from app.policy.ogc import SCHEMA_KEYS, SCHEMA_RECORDS
from app.values.batching import batched_by_bytes
from app.values.text import shown

_AT_ONCE: Final = 256 * 1024  # bytes of metadata
SCHEMA: Final = "application/schema+json"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_JSON_TYPES: Final[dict[type, str]] = {
    str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object",
}  # fmt: skip


def schema(principal: Principal, collection: Collection) -> dict[str, Any]:
    """The properties of features: the fields, and the metadata keys of the newest records."""
    described = {
        field.name: _described(field, number)
        for number, field in enumerate(collection.type.property_fields, start=1)
    }
    for number, (name, kind) in enumerate(_metadata_types(principal, collection), len(described)):
        described[name] = ({"type": kind} if kind else {}) | {"x-ogc-propertySeq": number + 1}
    described["geometry"] = _geometry(collection)
    required = [field.name for field in collection.type.property_fields if field.required]
    return _document(collection, "schema", described) | {
        "required": required,
        "additionalProperties": True,
    }


def queryables(collection: Collection) -> dict[str, Any]:
    """The queryables of features: the fields, and the geometry."""
    fields = {field.name: field for field in collection.type.property_fields}
    described: dict[str, Any] = {name: parameter_schema(fields[name]) for name in fields}
    described["geometry"] = _geometry(collection)
    return _document(collection, "queryables", described) | {"additionalProperties": False}


def parameter_schema(field: Field) -> dict[str, Any]:
    """The type of a field."""
    # Without null, as QGIS and GDAL know a type only if it is one word.
    made = dict(field.kind.schema)
    if field.kind is CHOICE:
        made["enum"] = list(field.choices)
    return made | ({"description": field.description} if field.description else {})


def _document(collection: Collection, name: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "$schema": _DIALECT,
        "$id": absolute_url(f"{collection.path}/{name}"),
        "type": "object",
        "title": collection.title,
        "properties": properties,
    }


def _described(field: Field, number: int) -> dict[str, Any]:
    made = parameter_schema(field) | {"x-ogc-propertySeq": number}
    if field.writable == "never" and field.name != "project_id":  # which a new asset needs
        made["readOnly"] = True
    if field.name == "id":
        made["x-ogc-role"] = "id"
    if field.kind is TEXT and field.longest and field.writable != "never":
        made["maxLength"] = field.longest
    return made


def _geometry(collection: Collection) -> dict[str, Any]:
    kind = f"geometry-{collection.geometry.lower()}"
    return {"x-ogc-role": "primary-geometry", "format": kind}


def _metadata_types(
    principal: Principal, collection: Collection
) -> Iterator[tuple[str, str | None]]:
    """The properties that come from the metadata of the newest records, and their types: None if
    they differ. Integers and other numbers together are numbers."""
    found: dict[str, set[str]] = {}
    account_id, query = principal.account_id, ListQuery(within=principal.project_ids)
    statement = list_statement(collection.source.table, query)
    values = statement.values(account_id, account_id, query)
    texts = (text for (text,) in _newest_metadata(statement).tuples(**values, most=SCHEMA_RECORDS))
    for some in batched_by_bytes(texts, len, _AT_ONCE):
        for key, value in chain.from_iterable(orjson.loads(text).items() for text in some):
            name = collection.type.property_name(shown(key))
            if value is not None and (name in found or len(found) < SCHEMA_KEYS):
                found.setdefault(name, set()).add(_JSON_TYPES[type(value)])
    for name in sorted(found):
        kinds = found[name]
        only = "number" if kinds == {"integer", "number"} else next(iter(kinds))
        yield name, only if len(kinds) == 1 or only == "number" else None


@cache
def _newest_metadata(statement: ListStatement) -> CompiledQuery:
    model: Any = statement.table.model
    newest = columns_of(model, model.metadata_json).where(model.metadata_json.is_not(None))
    order = (model.created_at.desc(), model.id.desc())
    return CompiledQuery(statement.filtered(newest).order_by(*order).limit(bindparam("most")))
