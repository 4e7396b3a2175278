"""The records in events: the JSON Schema and an example of each of their fields.

A kind of record is identified by its fields in ``app.policy.events``, so another type of event
about the same kind needs nothing here. The fields of projects and assets come from
``app.policy.fields``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from app.policy import kinds
from app.policy.audit import ACTORS
from app.policy.events import (
    ASSET_FIELDS,
    AUDIT_ENTRY_FIELDS,
    CHECKPOINT_FIELDS,
    INVOICE_FIELDS,
    MEMBER_FIELDS,
    PROJECT_FIELDS,
    SUBSCRIPTION_FIELDS,
    TEST_MESSAGE,
    USAGE_FIELDS,
)
from app.policy.fields import ASSET, PROJECT, Field
from app.policy.permissions import ROLES

Schema = dict[str, Any]


class EventField(NamedTuple):
    """A field of a record: its JSON Schema and an example."""

    schema: Schema
    example: Any


class EventRecord(NamedTuple):
    """A kind of record.

    Attributes:
        change: the ``changes`` of an example.
        changes_besides: the schemas of changes that are not ``{from, to}``.
    """

    fields: Mapping[str, EventField]
    change: Mapping[str, Any] = {}
    changes_besides: Mapping[str, Schema] = {}


TIMESTAMP: Final[Schema] = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
}
TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "number"}
_HASH: Final[Schema] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
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
    """Return the schema of an id with this prefix."""
    return {"type": "string", "pattern": f"^{prefix}_", "maxLength": 40}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _count_schema(description: str) -> Schema:
    return {"type": "integer", "minimum": 1, "description": description}


def object_of(**members: Schema) -> Schema:
    """Return the schema of an object with these members, all of them required."""
    return {"type": "object", "properties": members, "required": list(members)}


def _resource_fields(table: Sequence[Field]) -> dict[str, EventField]:
    """Return the fields of projects or assets that are in events."""
    return {
        field.name: EventField(_resource_schema(field), field.example)
        for field in table
        if field.in_events
    }


def _resource_schema(field: Field) -> Schema:
    more_exact = {
        kinds.ID: id_of(str(field.example).partition("_")[0]),
        kinds.CHOICE: _one_of(*field.choices),
        kinds.TIME: TIMESTAMP,
        kinds.POINT: _POINT,
    }
    schema = more_exact.get(field.kind, dict(field.kind.schema))
    return _or_null(schema) if field.nullable else schema


_PROJECT: Final = EventRecord(
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
_ASSET: Final = EventRecord(
    _resource_fields(ASSET), change={"status": {"from": "maintenance", "to": "active"}}
)
_MEMBER: Final = EventRecord(
    {
        "id": EventField(id_of("user"), "user_01k9zqd5r8m2yqf6t0w3xjbv7c"),
        "email": EventField(TEXT, "jo@example.org"),
        "name": EventField(TEXT, "Jo Forester"),
        "role": EventField(_one_of(*ROLES), "editor"),
        "joined_at": EventField(_or_null(TIMESTAMP), "2026-01-02T03:04:05.678Z"),
    },
    change={"role": {"from": "viewer", "to": "editor"}},
)
_SUBSCRIPTION: Final = EventRecord(
    {
        "plan": EventField(TEXT, "pro"),
        "previous_plan": EventField(TEXT, "free"),
        "status": EventField(TEXT, "active"),
        "current_period_end": EventField(_or_null(TIMESTAMP), "2026-02-01T00:00:00.000Z"),
    }
)
_INVOICE: Final = EventRecord(
    {
        "id": EventField({**TEXT, "description": "The billing system's own id."}, "in_2041"),
        "amount": EventField(
            {"type": "integer", "description": "In minor units, such as cents."}, 4900
        ),
        "currency": EventField(TEXT, "eur"),
        "status": EventField(TEXT, "paid"),
        "due_at": EventField(_or_null(TIMESTAMP), "2026-01-15T00:00:00.000Z"),
    }
)
_USAGE: Final = EventRecord(
    {
        "metric": EventField(_one_of("hectares", "members", "api_requests"), "hectares"),
        "threshold": EventField({"type": "integer", "description": "Percent of the limit."}, 75),
        "current": EventField(_NUMBER, 38120.5),
        "limit": EventField(_or_null({"type": "integer"}), 50000),
        "percentage": EventField(_or_null(_NUMBER), 76.24),
    }
)
_OPTIONAL_TEXT: Final = _or_null(TEXT)
_AUDIT_ENTRY: Final = EventRecord(
    {
        "account_id": EventField(id_of("acct"), "acct_01k9zq1x5wkcz0e7h3vrm8t2aj"),
        "action": EventField(
            {**TEXT, "description": "Later versions have more."}, "project.updated"
        ),
        "actor": EventField(
            object_of(id=_OPTIONAL_TEXT, label=TEXT, type=_one_of(*ACTORS)),
            {"id": "key_01k9zq1z4b7d2f5h8k1m3p6r9t", "label": "Sync", "type": "api_key"},
        ),
        "at": EventField(TIMESTAMP, "2026-01-03T10:20:30.456Z"),
        "changes": EventField(
            _or_null({"type": "object", "description": "By field, what it was and is."}),
            {"name": {"from": "Hood", "to": "Mount Hood"}},
        ),
        "id": EventField(id_of("aud"), "aud_01k9zq3n8d1v6c0r4t7y2w5xke"),
        "outcome": EventField(_one_of("done", "refused"), "done"),
        "target": EventField(
            object_of(id=_OPTIONAL_TEXT, label=TEXT, type=TEXT),
            {"id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd", "label": "Hood", "type": "project"},
        ),
        "via": EventField(
            object_of(
                application=_or_null(object_of(id=TEXT, label=TEXT)),
                credential=_OPTIONAL_TEXT,
                import_id=_OPTIONAL_TEXT,
                ip=_OPTIONAL_TEXT,
                request_id=_OPTIONAL_TEXT,
                user_agent=_OPTIONAL_TEXT,
            ),
            {
                "application": None,
                "credential": "canopy_key_…4f2A",
                "import_id": None,
                "ip": "203.0.113.7",
                "request_id": "req_01k9zq3mgt0y6f4c8vd2xw7sbn",
                "user_agent": "curl/8.5.0",
            },
        ),
        "number": EventField(_count_schema("Entries are counted from 1, without a gap."), 341),
    }
)
_CHECKPOINT: Final = EventRecord(
    {
        "account_id": EventField(id_of("acct"), "acct_01k9zq1x5wkcz0e7h3vrm8t2aj"),
        "number": EventField(_count_schema("Checkpoints are counted from 1, without a gap."), 1),
        "first": EventField(_count_schema("Number of the first entry."), 1),
        "last": EventField(_count_schema("Number of the last entry."), 500),
        "sealed_at": EventField(TIMESTAMP, "2026-01-03T10:25:00.000Z"),
        "previous_hash": EventField(_HASH, "0" * 64),
        "hash": EventField(
            _HASH, "3d1a6bd0c76f24b1d3b0f6cb5a4bb0a76d21ec6d5e55d0c24bb0a6f4d7b1f2aa"
        ),
        "key_id": EventField(id_of("sk"), "sk_01k9zq0b7d2f5h8k1m3p6r9t4x"),
        "signature": EventField(
            {**TEXT, "description": "Ed25519, in base64."},
            "bm90IGEgc2lnbmF0dXJlLCBidXQgYXMgbG9uZyBhcyBvbmUgaXMsIGluIGFuIGV4YW1wbGUsIG9rLmFuZCBlbmQ=",
        ),
        "entries": EventField(_count_schema("How many it seals."), 500),
    }
)
TEST: Final = EventRecord(
    {
        "webhook_id": EventField(id_of("wh"), "wh_01k9zqf0v7c3s6m1e8y2r5t9wd"),
        "message": EventField(TEXT, TEST_MESSAGE),
    }
)

RECORDS: Final[dict[tuple[str, ...], EventRecord]] = {
    PROJECT_FIELDS: _PROJECT,
    ASSET_FIELDS: _ASSET,
    MEMBER_FIELDS: _MEMBER,
    SUBSCRIPTION_FIELDS: _SUBSCRIPTION,
    INVOICE_FIELDS: _INVOICE,
    USAGE_FIELDS: _USAGE,
    AUDIT_ENTRY_FIELDS: _AUDIT_ENTRY,
    CHECKPOINT_FIELDS: _CHECKPOINT,
}
