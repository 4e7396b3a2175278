"""Schemas of webhooks."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar, Final

from marshmallow import fields, validate

from app.api.openapi.schemas import OutputSchema
from app.outbound import is_address, may_be_called, parse_target
from app.policy.deliveries import (
    DESCRIPTION_LENGTH,
    OVERLAP_HOURS_DEFAULT,
    OVERLAP_HOURS_MAX,
    SECRET_LENGTHS,
    URL_LENGTH,
)
from app.policy.events import ALL_EVENTS, EVENTS, TEST_EVENT
from app.settings.current import current_settings
from app.values.messages import CodedMessage, invalid
from app.values.schemas import (
    BoundedList,
    Choice,
    FixedText,
    InputSchema,
    Line,
    StrictBoolean,
    StrictInteger,
    Text,
)
from app.webhooks.record import STATUSES

REASONS: Final = ("manual", "failing", "gone")

_URL: Final = {
    "description": (
        "An https URL. Its host must resolve to a public IP address; every delivery checks this."
    )
}
_EVENTS: Final = {
    "description": (
        "Event types. `*` stands for all types, including those of later versions, but not for "
        "those of the audit log: name `audit.entry` and `audit.checkpoint` to get them."
    ),
    "uniqueItems": True,
}
_SECRET: Final = {
    "description": "The key that deliveries are signed with. It is shown only in this response."
}
_STATUS: Final = {
    "description": (
        "`failing`: the latest attempts have failed, and more are to come; `failed`: an event was "
        "given up after its last attempt, and none has been delivered since."
    )
}
_REASON: Final = {
    "description": (
        "`failing`: no delivery has succeeded for days; `gone`: the receiver responded with 410."
    )
}
_FAILURES: Final = {"description": "Failed attempts since the last success.", "minimum": 0}
_UNTIL: Final = {
    "description": "Until then, `webhook-signature` has signatures with both secrets; "
    "`X-Service-Signature` uses only the new one."
}


class Url(Text):
    """A URL that deliveries can be sent to."""

    def __init__(self, **options: Any) -> None:
        super().__init__(shortest=1, longest=URL_LENGTH, metadata=_URL, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        text = super()._deserialize(value, attr, data, **options)
        try:
            host = parse_target(text).host
        except ValueError as error:
            raise invalid(str(error), "wrong_format") from None
        networks = current_settings().webhook_allowed_networks
        if not (networks or "." in host or is_address(host)):
            message = (
                f"Must have a host name with a dot, such as hooks.example.org; {host} has none."
            )
            raise invalid(message, "wrong_format")
        if not may_be_called(host, networks):
            message = f"Must have a host name or a public IP address; {host} is neither."
            raise invalid(message, "wrong_format")
        return text


class EventTypes(BoundedList[str]):
    """Types of events that a webhook subscribes to, each once."""

    def __init__(self, **options: Any) -> None:
        kind = Choice("EventName", tuple(EVENTS), besides=(ALL_EVENTS,))
        super().__init__(kind, shortest=1, longest=len(EVENTS) + 1, metadata=_EVENTS, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> list[Any]:
        types: list[Any] = super()._deserialize(value, attr, data, **options)
        if repeated := sorted(name for name, count in Counter(types).items() if count > 1):
            message = f"Must name each type once; repeated: {', '.join(repeated)}."
            raise invalid(message, "not_unique")
        return types


class Secret(fields.String):
    """A signing secret that the customer chooses, used exactly as it is sent."""

    def __init__(self, **options: Any) -> None:
        low, high = SECRET_LENGTHS
        text = "Must be visible ASCII characters, without spaces."
        message = CodedMessage(text, "wrong_format")
        super().__init__(
            validate=[
                validate.Length(min=low, max=high),
                validate.Regexp(r"^[!-~]*\Z", error=message),
            ],
            metadata={"pattern": "^[!-~]+$"} | options.pop("metadata", {}),
            **options,
        )


class WebhookSchema(OutputSchema):
    """A URL that receives events, and how its deliveries are doing."""

    example: ClassVar = {
        "id": "wh_01k9zqf0v7c3s6m1e8y2r5t9wd",
        "url": "https://hooks.example.org/canopy",
        "description": "The registry",
        "events": ["project.created", "project.updated", "asset.status_changed"],
        "enabled": True,
        "status": "healthy",
        "disabled_reason": None,
        "last_success_at": None,
        "consecutive_failures": 0,
        "created_at": "2026-01-02T03:04:05.678Z",
        "updated_at": "2026-01-02T03:04:05.678Z",
    }

    id = fields.String()
    url = fields.String()
    description = fields.String(allow_none=True)
    events = EventTypes()
    enabled = fields.Boolean()
    status = Choice("WebhookStatus", STATUSES, metadata=_STATUS)
    disabled_reason = Choice("DisabledReason", REASONS, allow_none=True, metadata=_REASON)
    last_success_at = fields.DateTime(allow_none=True)
    consecutive_failures = fields.Integer(metadata=_FAILURES)
    created_at = fields.DateTime()
    updated_at = fields.DateTime()


class WebhookWithSecretSchema(WebhookSchema):
    """A new webhook with its secret."""

    example: ClassVar = {
        **WebhookSchema.example,
        "secret": "whsec_mYq0dN8fLr2Vt4xK6bG1hJ3sZ5cW7eQ9uAoTfYpD",  # nobody's
    }

    secret = fields.String(metadata=_SECRET)


class RotationSchema(WebhookWithSecretSchema):
    """The webhook with its new secret."""

    example: ClassVar = {
        **WebhookWithSecretSchema.example,
        "former_secret_until": "2026-01-04T03:04:05.678Z",
    }

    former_secret_until = fields.DateTime(allow_none=True, metadata=_UNTIL)


class WebhookInputSchema(InputSchema):
    """The fields of a webhook that a client can send back, and cannot set."""

    id = fields.String(dump_only=True)
    status = fields.String(dump_only=True)
    disabled_reason = fields.String(dump_only=True, allow_none=True)
    last_success_at = fields.DateTime(dump_only=True, allow_none=True)
    consecutive_failures = fields.Integer(dump_only=True)
    created_at = fields.DateTime(dump_only=True)
    updated_at = fields.DateTime(dump_only=True)


class WebhookCreateSchema(WebhookInputSchema):
    """A new webhook. If you send no secret, one is generated."""

    example: ClassVar = {
        name: WebhookSchema.example[name] for name in ("url", "events", "description")
    }

    url = Url(required=True)
    events = EventTypes(required=True)
    secret = Secret()
    description = Line(longest=DESCRIPTION_LENGTH, allow_none=True)
    enabled = StrictBoolean()


class WebhookUpdateSchema(WebhookInputSchema):
    """The fields to change. Fields that you leave out stay as they are; null clears a field.
    Disabling a webhook cancels its pending deliveries."""

    example: ClassVar = {
        "events": ["*"],
        "description": "Registry and archive",
    }

    id = FixedText()
    url = Url()
    events = EventTypes()
    secret = Secret(
        metadata={
            "description": "Deliveries are signed with it at once, and no longer with the former "
            "secret. `rotate-secret` makes one, and lets both sign for a while."
        }
    )
    description = Line(longest=DESCRIPTION_LENGTH, allow_none=True)
    enabled = StrictBoolean()


class RotationInputSchema(InputSchema):
    """For how many hours deliveries are also signed with the old secret."""

    may_be_absent: ClassVar = True
    example: ClassVar = {"overlap_hours": 48}

    overlap_hours = StrictInteger(low=0, high=OVERLAP_HOURS_MAX, load_default=OVERLAP_HOURS_DEFAULT)


class QueuedTestSchema(OutputSchema):
    """The test event that will be delivered."""

    example: ClassVar = {
        "event_id": "evt_01k9zqg4h2p7x0d5b8n3k6v9ra",
        "event_type": "webhook.test",
        "status": "queued",
    }

    event_id = fields.String()
    event_type = fields.String(validate=validate.Equal(TEST_EVENT))
    status = fields.String(validate=validate.Equal("queued"))
