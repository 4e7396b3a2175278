"""The form of a webhook, checked by the schemas of the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import marshmallow as ma
from flask import request

from app.http.errors import ApiError
from app.pages.problems import errors_by_field
from app.pages.webhooks.event_groups import chosen_types
from app.policy.deliveries import (
    DESCRIPTION_LENGTH,
    OVERLAP_HOURS_DEFAULT,
    OVERLAP_HOURS_MAX,
    SECRET_LENGTHS,
    URL_LENGTH,
)
from app.policy.events import ALL_EVENTS
from app.values.clock import describe_duration
from app.webhooks.schemas import WebhookCreateSchema, WebhookUpdateSchema

LIMITS: Final = {
    "url": URL_LENGTH,
    "description": DESCRIPTION_LENGTH,
    "secret": SECRET_LENGTHS,
}
_NO_URL: Final = "Enter the address that events are posted to."
_NO_EVENTS: Final = "Choose at least one type of event, or all events."
# Of the form that rotates a secret: hours, and what is said of them.
OVERLAPS: Final = {
    hours: f"for {describe_duration(timedelta(hours=hours))}"
    for hours in (OVERLAP_HOURS_DEFAULT, 2 * OVERLAP_HOURS_DEFAULT, OVERLAP_HOURS_MAX)
} | {0: "not at all, as it has leaked"}


@dataclass
class WebhookDraft:
    """What a form has: as it was typed, and what is wrong with it by field."""

    url: str = ""
    description: str = ""
    events: list[str] = field(default_factory=lambda: [ALL_EVENTS])
    secret: str = ""
    enabled: bool = True
    errors: dict[str, list[str]] = field(default_factory=dict)
    rejection: ApiError | None = None

    @property
    def has_all(self) -> bool:
        """Whether it asks for all events but those by name, also for those of later versions."""
        return ALL_EVENTS in self.events


def draft_of(record: Mapping[str, Any]) -> WebhookDraft:
    """The form of a webhook as it is."""
    return WebhookDraft(
        url=record["url"],
        description=record["description"] or "",
        events=list(record["events"]),
        enabled=record["enabled"],
    )


def sent_draft() -> WebhookDraft:
    """The form of the request."""
    return WebhookDraft(
        url=request.form.get("url", ""),
        description=request.form.get("description", ""),
        events=chosen_types(request.form, "events"),
        secret=request.form.get("secret", ""),
        enabled="enabled" in request.form,
    )


def read_draft(draft: WebhookDraft, *, is_new: bool) -> dict[str, Any]:
    """The values of a form. What is wrong with them is written into it."""
    values: dict[str, Any] = {
        "url": draft.url,
        "description": draft.description.strip() or None,
        "events": draft.events,
        "enabled": draft.enabled,
    }
    if is_new and draft.secret:
        values["secret"] = draft.secret
    schema: type[ma.Schema] = WebhookCreateSchema if is_new else WebhookUpdateSchema
    try:
        loaded: dict[str, Any] = schema().load(values)
    except ma.ValidationError as error:
        draft.errors = errors_by_field(error)
        if not draft.events:
            draft.errors["events"] = [_NO_EVENTS]
        if not draft.url.strip():
            draft.errors["url"] = [_NO_URL]
        return {}
    return loaded


def overlap_hours() -> int | None:
    """For how many hours the former secret signs too; None: it is none of the choices."""
    typed = request.form.get("overlap_hours", "")
    return next((hours for hours in OVERLAPS if str(hours) == typed), None)
