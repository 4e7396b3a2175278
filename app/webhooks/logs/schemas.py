"""Schemas of the log of a webhook."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Final

from marshmallow import fields, validate

from app.api.openapi.schemas import OutputSchema
from app.api.query_schemas import PageQuerySchema
from app.policy.events import EVENTS, TEST_EVENT
from app.values.schemas import Choice, Timestamp

STATUSES: Final = ("success", "failed")
_CAUSES: Final = ("event", "test", "replay", "redelivery")

_CODE: Final = {"description": "HTTP status of the response; absent if there was none."}
_TOOK: Final = {
    "description": "Time until the response; present if the attempt succeeded.",
    "minimum": 0,
}
_ERROR: Final = {"description": "Why the attempt failed; present if it failed."}
_RETRY: Final = {
    "description": "Time of the next attempt; absent if there is none, or it was canceled."
}
_ATTEMPT: Final = {"description": "Number of the attempt, starting at 1.", "minimum": 1}
_SENT: Final = {
    "description": (
        "The headers as sent, without the two signatures, Host, Accept and Content-Length."
    )
}
_EVENT: Final = {"description": "The body as sent; absent once the event has been deleted."}
_PHASE: Final = {"description": "Null if this step was not reached or not needed.", "minimum": 0}


class LogSchema(OutputSchema):
    """An attempt to deliver an event."""

    example: ClassVar = {
        "id": "log_01k9zqj2s8y4a7d0f3h6m9p1vb",
        "event_id": "evt_01k9zq3n8d1v6c0r4t7y2w5xke",
        "event_type": "project.created",
        "status": "failed",
        "response_code": 503,
        "error": "answered 503",
        "delivered_at": "2026-01-02T03:04:05.812Z",
        "next_retry_at": "2026-01-02T03:05:05.812Z",
        "attempt": 1,
        "cause": "event",
        "delivery_id": "dlv_01k9zq3n8e5b9h2k6q0s4x7zmf",
    }

    optional: ClassVar[Collection[str]] = (
        "response_code",
        "response_time_ms",
        "error",
        "next_retry_at",
    )

    id = fields.String()
    event_id = fields.String()
    event_type = fields.String()
    status = Choice("AttemptStatus", STATUSES)
    response_code = fields.Integer(metadata=_CODE)
    response_time_ms = fields.Integer(metadata=_TOOK)
    error = fields.String(metadata=_ERROR)
    delivered_at = fields.DateTime(metadata={"description": "When the attempt ended."})
    next_retry_at = fields.DateTime(metadata=_RETRY)
    attempt = fields.Integer(metadata=_ATTEMPT)
    cause = Choice("AttemptCause", _CAUSES)
    delivery_id = fields.String()


class LogRequestSchema(OutputSchema):
    headers = fields.Dict(keys=fields.String(), values=fields.String(), metadata=_SENT)


class TimingSchema(OutputSchema):
    resolve_ms = fields.Integer(allow_none=True, metadata=_PHASE)
    connect_ms = fields.Integer(allow_none=True, metadata=_PHASE)
    tls_ms = fields.Integer(allow_none=True, metadata=_PHASE)
    wait_ms = fields.Integer(allow_none=True, metadata=_PHASE)
    total_ms = fields.Integer(metadata={"minimum": 0})


class LogDetailSchema(LogSchema):
    """An attempt, with what was sent and how long each step took."""

    example: ClassVar = {
        **LogSchema.example,
        "request": {
            "headers": {
                "Content-Type": "application/json",
                "User-Agent": "Canopy-Webhooks/1",
                "X-Service-Event": LogSchema.example["event_type"],
                "X-Service-Delivery": LogSchema.example["delivery_id"],
                "webhook-id": LogSchema.example["event_id"],
                "webhook-timestamp": "1767323045",
            }
        },
        "timing": {
            "resolve_ms": 3,
            "connect_ms": 21,
            "tls_ms": 40,
            "wait_ms": 58,
            "total_ms": 124,
        },
    }

    optional: ClassVar = (*LogSchema.optional, "event")

    request = fields.Nested(LogRequestSchema)
    timing = fields.Nested(TimingSchema)
    event = fields.Dict(metadata=_EVENT)


class LogQuerySchema(PageQuerySchema):
    """Which attempts; the newest first. Both ends of the time are included."""

    status = Choice(
        "AttemptStatus", STATUSES, metadata={"description": "Only attempts with this result."}
    )
    event_type = Choice(
        "EventName",
        tuple(EVENTS),
        besides=(TEST_EVENT,),
        metadata={"description": "Only attempts to deliver events of this type."},
    )
    since = Timestamp(metadata={"description": "Only attempts that ended then or later."})
    until = Timestamp(metadata={"description": "Only attempts that ended then or earlier."})


class RedeliverySchema(OutputSchema):
    """The delivery that was queued."""

    example: ClassVar = {
        "delivery_id": "dlv_01k9zqk7w3z9c2g5j8n1r4t6xh",
        "event_id": LogSchema.example["event_id"],
        "event_type": LogSchema.example["event_type"],
        "status": "queued",
    }

    delivery_id = fields.String()
    event_id = fields.String()
    event_type = fields.String()
    status = fields.String(validate=validate.Equal("queued"))
