"""The latest changes of a project, an asset or a member, from the audit log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from app.audit.log.filters import EntryQuery
from app.audit.log.listing import list_latest
from app.pages.audit_log.lines import lowered_label
from app.pages.audit_log.sentences import without_target
from app.pages.audit_log.values import field_name

_SHOWN: Final = 10
_BOUNDARY: Final = ("geometry", "area_hectares")  # changes that the sentence tells
_KINDS: Final = {"api_key": "API key", "service_token": "Service token"}
_WITH_VALUES: Final = ("status", "type")


def latest_changes(account_id: str, record_id: str) -> list[dict[str, Any]]:
    """Return ``who``, ``what`` and ``at`` of the latest changes of a record, the newest first."""
    latest = list_latest(account_id, EntryQuery(target_id=record_id, per_page=_SHOWN))
    return [{**_actor_and_time(entry), "what": _change_text(entry)} for entry in latest.entries]


def last_change(
    account_id: str, record_id: str, action: str | None = None
) -> dict[str, Any] | None:
    """Return ``who`` and ``at`` of the last change of a record; None if it is unknown.

    Args:
        action: look only for this action.
    """
    latest = list_latest(account_id, EntryQuery(target_id=record_id, action=action, per_page=1))
    return _actor_and_time(latest.entries[0]) if latest.entries else None


def _actor_and_time(entry: Mapping[str, Any]) -> dict[str, Any]:
    actor = entry["actor"]
    who = f"{_KINDS[actor['type']]} {actor['label']}" if actor["type"] in _KINDS else actor["label"]
    return {"who": who, "at": entry["at"]}


def _change_text(entry: Mapping[str, Any]) -> str:
    fields = ", ".join(_changed_names(entry)) if entry["action"].endswith(".updated") else ""
    return f"{without_target(entry['action'])}{': ' if fields else ''}{fields}"


def _changed_names(entry: Mapping[str, Any]) -> Iterator[str]:
    for name, change in (entry["changes"] or {}).items():
        if name in _WITH_VALUES:
            before, after = (str(change[side]).replace("_", " ") for side in ("from", "to"))
            yield f"{name} from {before} to {after}"
        elif name not in _BOUNDARY:
            yield lowered_label(field_name(name))
