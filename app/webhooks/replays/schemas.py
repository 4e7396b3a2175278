"""Schemas of replays."""

from __future__ import annotations

from typing import Any, ClassVar

import marshmallow as ma
from marshmallow import fields

from app.api.openapi.schemas import OutputSchema
from app.values.messages import invalid
from app.values.schemas import Choice, InputSchema, StrictBoolean, Timestamp
from app.webhooks.schemas import EventTypes


class ReplayInputSchema(InputSchema):
    """Which events to send again. Both ends of the time are inclusive."""

    example: ClassVar = {
        "since": "2026-01-02T00:00:00Z",
        "event_types": ["project.created"],
    }

    since = Timestamp(required=True)
    until = Timestamp(metadata={"description": "By default, the current time."})
    event_types = EventTypes()
    only_failed = StrictBoolean(
        load_default=False,
        metadata={
            "description": (
                "Only events that this webhook has never received and that are not pending."
            )
        },
    )

    @ma.validates_schema
    def _check_order(self, data: dict[str, Any], **_: Any) -> None:
        if "until" in data and data["until"] < data["since"]:
            raise invalid("Must not be before since.", "too_small", "until")


class ReplaySchema(OutputSchema):
    """What will be delivered again, alongside new events."""

    example: ClassVar = {
        "replayed": 12,
        "replay_id": "rpl_01k9zqh8m5t1w4c7e0g3j6q9sy",
    }

    replayed = fields.Integer(
        metadata={"minimum": 0, "description": "Number of events that will be sent again."}
    )
    replay_id = fields.String(
        allow_none=True, metadata={"description": "Null if there are no such events."}
    )


class ReplayProgressSchema(OutputSchema):
    """The last replay to a webhook, and how far it is."""

    example: ClassVar = {
        "replay_id": ReplaySchema.example["replay_id"],
        "status": "running",
        "total": 12,
        "sent": 7,
        "retrying": 1,
        "since": "2026-01-02T00:00:00.000Z",
        "until": "2026-01-02T03:04:05.678Z",
        "event_types": ["project.created"],
        "only_failed": False,
        "created_at": "2026-01-02T03:04:05.678Z",
    }

    replay_id = fields.String()
    status = Choice("ReplayStatus", ("running", "finished"))
    total = fields.Integer(metadata={"minimum": 0, "description": "Events to send, when it began."})
    sent = fields.Integer(
        metadata={"minimum": 0, "description": "Events that were attempted, with any result."}
    )
    retrying = fields.Integer(
        metadata={
            "minimum": 0,
            "description": "Those of them that have failed so far, and are tried again.",
        }
    )
    since = fields.DateTime()
    until = fields.DateTime()
    event_types = EventTypes()
    only_failed = fields.Boolean()
    created_at = fields.DateTime()
