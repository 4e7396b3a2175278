"""The types of events, each with a JSON Schema of the whole envelope and an example.

They are built from ``app.policy.events.EVENTS``. A schema allows additional members, which
receivers ignore.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from app.events.records import (
    RECORDS,
    TEST,
    TEXT,
    TIMESTAMP,
    EventField,
    EventRecord,
    Schema,
    id_of,
    object_of,
)
from app.policy.events import EVENTS, TEST_EVENT, EventKind

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TYPES: Final = (*EVENTS, TEST_EVENT)

_TEST: Final = EventKind("A webhook is tested", tuple(TEST.fields))
_ACTOR: Final = {
    "id": EventField(id_of("user"), "user_01k9zq2f7d3h8k1m5p9s0v4x6z"),
    "email": EventField(TEXT, "ann@example.org"),
}
_ACCOUNT: Final = {
    "id": EventField(id_of("acct"), "acct_01k9zq1x5wkcz0e7h3vrm8t2aj"),
    "name": EventField(TEXT, "Umpqua Forest Watch"),
}
_EVENT_ID: Final = "evt_01k9zq3n8d1v6c0r4t7y2w5xke"


@cache
def event_types() -> list[dict[str, Any]]:
    """Return the types that can be subscribed to, in the order of the catalogue."""
    return [
        {
            "name": name,
            "meaning": kind.meaning,
            "schema": schema_of(name),
            "example": example_of(name),
        }
        for name, kind in EVENTS.items()
    ]


def schema_of(event_type: str) -> Schema:
    """Build the JSON Schema of an event, which is one of ``TYPES``.

    Raises:
        KeyError: the type is unknown, or ``RECORDS`` lacks its kind of record.
    """
    kind, record = _event_kind(event_type)
    data = _event_field_schemas(record.fields)
    data |= {name: _extra_schema(name, record) for name in kind.extra}
    data |= {kind.actor: object_of(**_event_field_schemas(_ACTOR))} if kind.actor else {}
    members: dict[str, Schema] = {
        "id": {**id_of("evt"), "description": "The same each time the event is sent."},
        "type": {"const": event_type},
        "created_at": TIMESTAMP,
        "data": object_of(**data),
        "account": object_of(**_event_field_schemas(_ACCOUNT)),
    }
    about = {"$schema": DIALECT, "title": event_type, "description": f"{kind.meaning}."}
    return about | object_of(**members)


def example_of(event_type: str) -> dict[str, Any]:
    """Build an example of an event. Raises KeyError as ``schema_of`` does."""
    kind, record = _event_kind(event_type)
    data = _field_examples(record.fields)
    data |= {name: _extra_example(name, record) for name in kind.extra}
    data |= {kind.actor: _field_examples(_ACTOR)} if kind.actor else {}
    return {
        "id": _EVENT_ID,
        "type": event_type,
        "created_at": "2026-01-03T10:20:30.456Z",
        "data": data,
        "account": _field_examples(_ACCOUNT),
    }


def _event_kind(event_type: str) -> tuple[EventKind, EventRecord]:
    if event_type == TEST_EVENT:
        return _TEST, TEST
    kind = EVENTS[event_type]
    return kind, RECORDS[kind.fields]


def _extra_schema(name: str, record: EventRecord) -> Schema:
    if former := _former_field(name, record):
        return record.fields[former].schema
    if name != "changes":
        raise KeyError(f"say here what {name} is")
    changes = {
        name: object_of(**{"from": field.schema, "to": field.schema})
        for name, field in record.fields.items()
    }
    return {
        "type": "object",
        "properties": {**changes, **record.changes_besides},
        "minProperties": 1,
    }


def _extra_example(name: str, record: EventRecord) -> Any:
    if not (former := _former_field(name, record)):
        return dict(record.change)
    change = record.change.get(former)
    return change["from"] if change else record.fields[former].example


def _former_field(name: str, record: EventRecord) -> str | None:
    """Return the field of which ``name`` is the value before the change, or None."""
    field = name.removeprefix("previous_")
    return field if field != name and field in record.fields else None


def _event_field_schemas(fields: Mapping[str, EventField]) -> dict[str, Schema]:
    return {name: field.schema for name, field in fields.items()}


def _field_examples(fields: Mapping[str, EventField]) -> dict[str, Any]:
    return {name: field.example for name, field in fields.items()}
