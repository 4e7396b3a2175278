"""Who changed a project or an asset lately, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.events.service import latest_events

_CHANGES_SHOWN: Final = 10
_ACTORS: Final = ("created_by", "updated_by", "archived_by", "restored_by", "invited_by")
_DONE: Final[dict[str, str]] = {
    "project.created": "created the project",
    "project.archived": "archived the project",
    "project.restored": "restored the project",
    "asset.created": "created the asset",
}
_FIELDS: Final[dict[str, str]] = {"geometry": "boundary", "external_id": "external ID"}
_TOLD_OTHERWISE: Final = {"project.updated": "area_hectares", "asset.updated": "status"}


def latest_changes(account_id: str, record_id: str) -> list[dict[str, Any]]:
    """Who changed what lately, the newest first: ``who``, ``what`` and ``at``. Events are kept for
    EVENT_DAYS."""
    events = latest_events(account_id, record_id, _CHANGES_SHOWN)
    return [
        {"who": _actor(event), "what": what, "at": event["created_at"]}
        for event in events
        if (what := _what(event))
    ]


def last_change(account_id: str, record_id: str) -> dict[str, Any] | None:
    """Who has changed a record last, and when: ``who`` and ``at``; None if that is not known."""
    for event in latest_events(account_id, record_id, 1):
        return {"who": _actor(event), "at": event["created_at"]}
    return None


def _actor(event: Mapping[str, Any]) -> str:
    data = event["data"]
    actor = next((data[name] for name in _ACTORS if data.get(name)), None) or {}
    return str(actor.get("email") or "Somebody")


def _what(event: Mapping[str, Any]) -> str:
    """What an event says was done; empty where another event says it."""
    kind, data = str(event["type"]), event["data"]
    if kind == "asset.status_changed":
        before, after = (data[name].replace("_", " ") for name in ("previous_status", "status"))
        return f"changed the status from {before} to {after}"
    if kind not in _TOLD_OTHERWISE:
        return _DONE.get(kind, kind)
    names = [name for name in data["changes"] if name != _TOLD_OTHERWISE[kind]]
    return f"changed {_listed([_FIELDS.get(name, name) for name in names])}" if names else ""


def _listed(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
