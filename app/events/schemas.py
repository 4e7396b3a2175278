"""Query and response schemas of events and event types."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from marshmallow import fields

from app.api.openapi.schemas import OutputSchema
from app.api.query_schemas import PageQuerySchema
from app.events.catalogue import TYPES, example_of, schema_of
from app.policy.events import EVENTS, TEST_EVENT
from app.values.schemas import Choice, Timestamp

_FIRST: Final = TYPES[0]
_DATA: Final = {"description": "Depends on the type: see `schema` in `GET /v1/event-types`."}
_SCHEMA: Final = {"description": "JSON Schema (2020-12) of the whole event."}


class EventAccountSchema(OutputSchema):
    """The account, with its name at that time."""

    id = fields.String()
    name = fields.String()


class EventSchema(OutputSchema):
    """Something that happened, exactly as webhooks receive it."""

    example: ClassVar = example_of(_FIRST)

    id = fields.String()
    type = Choice("EventName", tuple(EVENTS), besides=(TEST_EVENT,))
    created_at = fields.DateTime()
    data = fields.Dict(metadata=_DATA)
    account = fields.Nested(EventAccountSchema)


class EventQuerySchema(PageQuerySchema):
    """Which events; the newest first. Both ends of the time are included."""

    type = Choice(
        "EventName",
        tuple(EVENTS),
        besides=(TEST_EVENT,),
        metadata={"description": "Only events of this type."},
    )
    since = Timestamp(metadata={"description": "Only events at this time or later."})
    until = Timestamp(metadata={"description": "Only events at this time or earlier."})


class EventTypeSchema(OutputSchema):
    """A type of event that webhooks can subscribe to."""

    example: ClassVar[dict[str, Any]] = {
        "name": _FIRST,
        "meaning": schema_of(_FIRST)["description"].rstrip("."),
        "schema": schema_of(_FIRST),
        "example": example_of(_FIRST),
    }

    name = fields.String()
    meaning = fields.String()
    schema = fields.Dict(metadata=_SCHEMA)
    sample = fields.Nested(EventSchema, data_key="example")
