"""The form of a webhook."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, Self

from werkzeug.datastructures import MultiDict

from app.http.errors import PreconditionFailed
from app.pages.webhooks.event_groups import chosen_types
from app.policy.deliveries import (
    DESCRIPTION_LENGTH,
    OVERLAP_HOURS_DEFAULT,
    OVERLAP_HOURS_MAX,
    SECRET_LENGTHS,
    URL_LENGTH,
)
from app.policy.events import ALL_EVENTS
from app.site.forms import Draft, form_texts
from app.values.clock import describe_duration
from app.webhooks.schemas import WebhookCreateSchema, WebhookUpdateSchema

LIMITS: Final = {
    "url": URL_LENGTH,
    "description": DESCRIPTION_LENGTH,
    "secret": SECRET_LENGTHS,
}
# Hours for which the former secret stays valid, and their labels.
OVERLAPS: Final = {
    hours: f"for {describe_duration(timedelta(hours=hours))}"
    for hours in (OVERLAP_HOURS_DEFAULT, 2 * OVERLAP_HOURS_DEFAULT, OVERLAP_HOURS_MAX)
} | {0: "not at all, as it has leaked"}


class WebhookDraft(Draft):
    """The form of a webhook; a new one is for all events."""

    @classmethod
    def new(cls) -> Self:
        return cls({"events": [ALL_EVENTS], "enabled": "true"})

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Return the form of a saved webhook. Its ``version`` is the time of the last change."""
        texts = {name: record[name] or "" for name in ("url", "description")}
        texts["version"] = record["updated_at"]
        enabled = "true" if record["enabled"] else ""
        return cls(texts | {"events": list(record["events"]), "enabled": enabled})

    @classmethod
    def sent(cls, form: MultiDict[str, str]) -> Self:
        """Return the form as it was sent."""
        texts = form_texts(form, ("url", "description", "secret", "enabled", "version"))
        return cls(texts | {"events": chosen_types(form, "events")})

    def read(self, *, is_new: bool) -> None:
        """Read the values to create or update a webhook."""
        texts = self.texts
        values = {
            "url": texts["url"],
            "description": texts["description"].strip() or None,
            "events": texts["events"],
            "enabled": bool(texts["enabled"]),
        }
        if texts["secret"]:
            values["secret"] = texts["secret"]
        self.load(WebhookCreateSchema() if is_new else WebhookUpdateSchema(), values)
        if self.errors and not texts["events"]:
            self.errors["events"] = ["Choose at least one type of event, or all events."]
        if self.errors and not texts["url"].strip():
            self.errors["url"] = ["Enter the address that events are posted to."]

    def compare(self, record: Mapping[str, Any]) -> None:
        """Name the fields that differ from a webhook that was changed since. Sent again, the form
        overwrites it."""
        saved = self.of(record).texts
        names = ("url", "description", "events", "enabled")
        differing = [name for name in names if saved[name] != self.texts[name]]
        where = f" The two differ in: {', '.join(differing)}." if differing else ""
        self.rejection = PreconditionFailed(
            "Somebody has changed the webhook since you opened the page. Nothing of yours is saved "
            f"yet: save again to replace what is saved now.{where}"
        )
        self.texts["version"] = saved["version"]
