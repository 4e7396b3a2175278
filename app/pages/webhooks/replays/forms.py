"""The form that chooses past events, checked by the schema of the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import marshmallow as ma
from werkzeug.datastructures import MultiDict

from app.pages.problems import errors_by_field
from app.pages.webhooks.event_groups import chosen_types
from app.values import clock
from app.webhooks.replays.schemas import ReplayInputSchema
from app.webhooks.replays.service import EventSelection


@dataclass
class ReplayDraft:
    """What the form has: times in UTC as browsers send them, and what is wrong by field."""

    since: str
    until: str
    event_types: list[str]
    only_failed: bool
    errors: dict[str, list[str]] = field(default_factory=dict)


def new_draft(webhook: Mapping[str, Any], days: int, *, only_failed: bool) -> ReplayDraft:
    """The form at first: the last days, and the types that the webhook is subscribed to."""
    since = clock.now() - timedelta(days=days)
    return ReplayDraft(f"{since:%Y-%m-%dT%H:%M}", "", list(webhook["events"]), only_failed)


def sent_draft(sent: MultiDict[str, str]) -> ReplayDraft:
    """The form as it was sent, in an address or a body."""
    types = chosen_types(sent, "event_types")
    only_failed = sent.get("only_failed", "") == "true"
    return ReplayDraft(sent.get("since", ""), sent.get("until", ""), types, only_failed)


def read_draft(draft: ReplayDraft) -> EventSelection | None:
    """What it selects. None: what is wrong is written into it."""
    values: dict[str, Any] = {"event_types": draft.event_types, "only_failed": draft.only_failed}
    for name in ("since", "until"):
        text = getattr(draft, name).strip()
        if text:
            values[name] = _timestamp(text)
    try:
        return EventSelection(**ReplayInputSchema().load(values))
    except ma.ValidationError as error:
        draft.errors = errors_by_field(error)
        if "since" not in values:
            draft.errors["since"] = ["Say from when."]
        if not draft.event_types:
            draft.errors["event_types"] = ["Choose at least one type of event, or all events."]
        return None


def _timestamp(text: str) -> str:
    """An RFC 3339 timestamp, where a browser's field leaves the seconds and the zone out."""
    if text.endswith(("Z", "z")) or "+" in text:
        return text
    return f"{text}:00Z" if text.count(":") == 1 else f"{text}Z"
