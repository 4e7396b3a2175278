"""The form that selects past events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Self

from werkzeug.datastructures import MultiDict

from app.pages.webhooks.event_groups import chosen_types
from app.site.formats import field_timestamp
from app.site.forms import Draft, form_texts
from app.values import clock
from app.webhooks.replays.schemas import ReplayInputSchema
from app.webhooks.replays.service import EventSelection


class ReplayDraft(Draft):
    """The form that selects past events, with times in UTC as browsers send them."""

    @classmethod
    def new(cls, webhook: Mapping[str, Any], days: int, *, only_failed: bool) -> Self:
        """Return the form for the last days, and the types that the webhook is subscribed to."""
        since = clock.now() - timedelta(days=days)
        texts = {"since": f"{since:%Y-%m-%dT%H:%M}", "until": ""}
        failed = "true" if only_failed else "false"
        return cls(texts | {"event_types": list(webhook["events"]), "only_failed": failed})

    @classmethod
    def sent(cls, form: MultiDict[str, str]) -> Self:
        """Return the form as it was sent, in a query or a body."""
        texts = form_texts(form, ("since", "until", "only_failed"))
        times = {name: texts[name].strip().removesuffix("Z") for name in ("since", "until")}
        return cls(texts | times | {"event_types": chosen_types(form, "event_types")})

    def selection(self) -> EventSelection | None:
        """Return the selected events; None if the form has errors."""
        texts = self.texts
        times = {name: field_timestamp(texts[name]) for name in ("since", "until") if texts[name]}
        only_failed = texts["only_failed"] == "true"
        values = {**times, "event_types": texts["event_types"], "only_failed": only_failed}
        self.load(ReplayInputSchema(), values)
        if self.errors and not texts["since"]:
            self.errors["since"] = ["Say from when."]
        if self.errors and not texts["event_types"]:
            self.errors["event_types"] = ["Choose at least one type of event, or all events."]
        return EventSelection(**self.values) if self.values else None
