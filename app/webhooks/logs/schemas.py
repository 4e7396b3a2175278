"""Schemas of requests and responses."""

from __future__ import annotations

from typing import ClassVar, Final

from marshmallow import fields, validate

from app.api.fields import PageQuerySchema
from app.api.schemas import OutputSchema
from app.policy.events import EVENTS, TEST_EVENT
from app.values.fields import Choice
from app.webhooks import examples

STATUSES: Final = ("success", "failed")
_CAUSES: Final = ("event", "test", "replay", "redelivery")

_CODE: Final = {"description": "Of the answer; absent when there was none."}
_TOOK: Final = {"description": "Of the whole attempt; present on success.", "minimum": 0}
_ERROR: Final = {"description": "What went wrong; present on failure."}
_RETRY: Final = {"description": "Present when another attempt follows."}
_ATTEMPT: Final = {"description": "Of this delivery, counted from 1.", "minimum": 1}
_SENT: Final = {
    "description": "As they were sent, but for the two signatures, Host, Accept and Content-Length."
}
_EVENT: Final = {"description": "The body that was sent; absent when it is not kept any more."}
_PHASE: Final = {"description": "null when it was not reached, or not needed.", "minimum": 0}


class LogSchema(OutputSchema):
    """An attempt to reach a webhook."""

    example: ClassVar = examples.LOG

    id = fields.String(required=True)
    event_id = fields.String(required=True)
    event_type = fields.String(required=True)
    status = Choice("AttemptStatus", STATUSES, required=True)
    response_code = fields.Integer(metadata=_CODE)
    response_time_ms = fields.Integer(metadata=_TOOK)
    error = fields.String(metadata=_ERROR)
    delivered_at = fields.DateTime(required=True, metadata={"description": "When it ended."})
    next_retry_at = fields.DateTime(metadata=_RETRY)
    attempt = fields.Integer(required=True, metadata=_ATTEMPT)
    cause = Choice("AttemptCause", _CAUSES, required=True)
    delivery_id = fields.String(required=True)


class LogRequestSchema(OutputSchema):
    headers = fields.Dict(
        keys=fields.String(), values=fields.String(), required=True, metadata=_SENT
    )


class TimingSchema(OutputSchema):
    resolve_ms = fields.Integer(required=True, allow_none=True, metadata=_PHASE)
    connect_ms = fields.Integer(required=True, allow_none=True, metadata=_PHASE)
    tls_ms = fields.Integer(required=True, allow_none=True, metadata=_PHASE)
    wait_ms = fields.Integer(required=True, allow_none=True, metadata=_PHASE)
    total_ms = fields.Integer(required=True, metadata={"minimum": 0})


class LogDetailSchema(LogSchema):
    """An attempt, with what was sent and how long each part of it took."""

    example: ClassVar = examples.LOG_DETAIL

    request = fields.Nested(LogRequestSchema, required=True)
    timing = fields.Nested(TimingSchema, required=True)
    event = fields.Dict(metadata=_EVENT)


class LogQuerySchema(PageQuerySchema):
    """Which attempts; the newest first."""

    status = Choice(
        "AttemptStatus", STATUSES, metadata={"description": "Only attempts that ended like this."}
    )
    event_type = Choice(
        "EventName",
        tuple(EVENTS),
        besides=(TEST_EVENT,),
        metadata={"description": "Only attempts to send events of this type."},
    )


class RedeliverySchema(OutputSchema):
    """The delivery that is on its way."""

    example: ClassVar = examples.REDELIVERY

    delivery_id = fields.String(required=True)
    event_id = fields.String(required=True)
    event_type = fields.String(required=True)
    status = fields.String(required=True, validate=validate.Equal("queued"))
