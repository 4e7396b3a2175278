"""The types of events, in the groups in which people choose them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from app.policy.events import ALL_EVENTS, EVENTS

# Of the first part of a type.
_GROUPS: Final = {
    "project": "Projects",
    "asset": "Assets",
    "member": "Members",
    "subscription": "Billing",
    "invoice": "Billing",
    "usage": "Usage",
}


class Group(NamedTuple):
    """A group: its name, and its types with their meanings."""

    name: str
    types: list[tuple[str, str]]


def event_groups() -> list[Group]:
    """All types, in the order of the catalogue."""
    groups = {name: Group(name, []) for name in _GROUPS.values()}
    for name, kind in EVENTS.items():
        groups[_GROUPS[name.partition(".")[0]]].types.append((name, kind.meaning))
    return list(groups.values())


def in_words(chosen: Sequence[str]) -> list[str]:
    """What a webhook is subscribed to, a few words for each group: ``all of Projects``, or the
    types."""
    if ALL_EVENTS in chosen:
        return ["all events"]
    words = []
    for group in event_groups():
        types = [name for name, _ in group.types if name in chosen]
        is_whole = len(types) == len(group.types)
        words += [f"all of {group.name}"] if is_whole else types
    return words
