"""What the data of events is made of: the schema and an example of each field, by kind of record.

The catalogue of ``app.policy.events`` names fields, and a kind of record is known by them: another
type of event about one that is here needs nothing here. The fields of projects and assets come from
``app.policy.fields``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from app.policy.events import (
    ASSET_FIELDS,
    INVOICE_FIELDS,
    MEMBER_FIELDS,
    PROJECT_FIELDS,
    SUBSCRIPTION_FIELDS,
    TEST_MESSAGE,
    USAGE_FIELDS,
)
from app.policy.fields import ASSET, PROJECT
from app.policy.fields import Field as ResourceField
from app.policy.permissions import ROLES

Schema = dict[str, Any]


class Field(NamedTuple):
    """A field of a record: its JSON Schema, and a value."""

    schema: Schema
    example: Any


class Record(NamedTuple):
    """A kind of record, and the change of one that an example shows.

    ``changes_besides`` has the schemas of changes that are not ``{from, to}``.
    """

    fields: Mapping[str, Field]
    change: Mapping[str, Any] = {}
    changes_besides: Mapping[str, Schema] = {}


TIMESTAMP: Final[Schema] = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
}
TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "number"}
_POINT: Final[Schema] = {
    "type": "object",
    "description": "A GeoJSON Point.",
    "properties": {
        "type": {"const": "Point"},
        "coordinates": {
            "type": "array",
            "minItems": 2,
            "maxItems": 3,
            "items": _NUMBER,
        },
    },
    "required": ["type", "coordinates"],
}


def id_of(prefix: str) -> Schema:
    """The schema of an identifier of this kind."""
    return {"type": "string", "pattern": f"^{prefix}_", "maxLength": 40}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _resource_fields(table: Sequence[ResourceField]) -> dict[str, Field]:
    """The fields of projects or assets that events show."""
    return {
        field.name: Field(_resource_schema(field), field.example)
        for field in table
        if field.in_events
    }


def _resource_schema(field: ResourceField) -> Schema:
    """Raises KeyError: events do not show fields of this kind."""
    schemas = {
        "id": id_of(str(field.example).partition("_")[0]),
        "text": TEXT,
        "choice": _one_of(*field.choices),
        "keyword": TEXT,
        "hectares": _NUMBER,
        "time": TIMESTAMP,
        "point": _POINT,
        "object": {"type": "object"},
    }
    return _or_null(schemas[field.kind]) if field.nullable else schemas[field.kind]


_PROJECT: Final = Record(
    _resource_fields(PROJECT),
    change={"description": {"from": None, "to": "Umpqua National Forest"}},
    changes_besides={
        "geometry": {
            "type": "object",
            "description": "The boundary has changed. Read the project to get it.",
            "properties": {"changed": {"const": True}},
            "required": ["changed"],
        }
    },
)
_ASSET: Final = Record(
    _resource_fields(ASSET), change={"status": {"from": "maintenance", "to": "active"}}
)
_MEMBER: Final = Record(
    {
        "id": Field(id_of("user"), "user_01k9zqd5r8m2yqf6t0w3xjbv7c"),
        "email": Field(TEXT, "jo@example.org"),
        "name": Field(TEXT, "Jo Forester"),
        "role": Field(_one_of(*ROLES), "editor"),
        "joined_at": Field(_or_null(TIMESTAMP), "2026-01-02T03:04:05.678Z"),
    },
    change={"role": {"from": "viewer", "to": "editor"}},
)
_SUBSCRIPTION: Final = Record(
    {
        "plan": Field(TEXT, "pro"),
        "previous_plan": Field(TEXT, "free"),
        "status": Field(TEXT, "active"),
        "current_period_end": Field(_or_null(TIMESTAMP), "2026-02-01T00:00:00.000Z"),
    }
)
_INVOICE: Final = Record(
    {
        "id": Field({**TEXT, "description": "The billing system's own id."}, "in_2041"),
        "amount": Field({"type": "integer", "description": "In minor units, such as cents."}, 4900),
        "currency": Field(TEXT, "eur"),
        "status": Field(TEXT, "paid"),
        "due_at": Field(_or_null(TIMESTAMP), "2026-01-15T00:00:00.000Z"),
    }
)
_USAGE: Final = Record(
    {
        "metric": Field(_one_of("hectares", "members", "api_requests"), "hectares"),
        "threshold": Field({"type": "integer", "description": "Percent of the limit."}, 75),
        "current": Field(_NUMBER, 38120.5),
        "limit": Field(_or_null({"type": "integer"}), 50000),
        "percentage": Field(_or_null(_NUMBER), 76.24),
    }
)
TEST: Final = Record(
    {
        "webhook_id": Field(id_of("wh"), "wh_01k9zqf0v7c3s6m1e8y2r5t9wd"),
        "message": Field(TEXT, TEST_MESSAGE),
    }
)

RECORDS: Final[dict[tuple[str, ...], Record]] = {
    PROJECT_FIELDS: _PROJECT,
    ASSET_FIELDS: _ASSET,
    MEMBER_FIELDS: _MEMBER,
    SUBSCRIPTION_FIELDS: _SUBSCRIPTION,
    INVOICE_FIELDS: _INVOICE,
    USAGE_FIELDS: _USAGE,
}
