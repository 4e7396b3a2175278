"""The types of events, in groups to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from werkzeug.datastructures import MultiDict

from app.policy.events import ALL_EVENTS, EVENTS

# Keyed by the first part of a type.
_GROUPS: Final = {
    "project": "Projects",
    "asset": "Assets",
    "member": "Members",
    "subscription": "Billing",
    "invoice": "Billing",
    "usage": "Usage",
    "audit": "Audit log",
}
_BY_NAME: Final = tuple(name for name, kind in EVENTS.items() if kind.by_name)


class EventGroup(NamedTuple):
    """A group of types with their meanings. ``by_name`` is True if "all events" does not include
    it."""

    name: str
    types: list[tuple[str, str]]
    by_name: bool


def event_groups() -> list[EventGroup]:
    """Return all types, in the order of the catalogue."""
    groups = dict[str, EventGroup]()
    for name, kind in EVENTS.items():
        title = _GROUPS[name.partition(".")[0]]
        group = groups.setdefault(title, EventGroup(title, [], kind.by_name))
        group.types.append((name, kind.meaning))
    return list(groups.values())


def chosen_types(form: MultiDict[str, str], field: str) -> list[str]:
    """Return the types that a form selects: ``*`` for all, and types that ``*`` leaves out."""
    names = form.getlist(field)
    if form.get("which") != "all":
        return names
    return [ALL_EVENTS, *(name for name in _BY_NAME if name in names)]


def subscription_words(chosen: Sequence[str]) -> list[str]:
    """Return what a webhook is subscribed to: for each group ``all of Projects``, or the types."""
    if ALL_EVENTS in chosen:
        missing = " and ".join(name for name in _BY_NAME if name not in chosen)
        return [f"all events except {missing}" if missing else "all events"]
    words = []
    for group in event_groups():
        types = [name for name, _ in group.types if name in chosen]
        is_whole = len(types) == len(group.types)
        words += [f"all of {group.name}"] if is_whole else types
    return words
