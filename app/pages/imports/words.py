"""What the pages of imports say, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from app.imports.available_actions import AvailableActions
from app.imports.questions import must_answer
from app.imports.record import country_words, overlap_words
from app.policy.bounds import GEOMETRY_POSITIONS
from app.policy.files import FEATURES, FORMATS_IN
from app.site.pages import format_hectares

# The words for each status, and the class of their tag.
STATUSES: Final[dict[str, tuple[str, str]]] = {
    "reading": ("Reading the file", "draft"),
    "ready": ("Ready to review", "draft"),
    "applying": ("Applying", "draft"),
    "applied": ("Applied", "good"),
    "undoing": ("Undoing", "draft"),
    "undone": ("Undone", ""),
    "failed": ("Failed", "bad"),
    "canceled": ("Canceled", ""),
}
VERDICTS: Final[dict[str, str]] = {
    "new": "New",
    "changed": "Changed",
    "same": "The same",
    "rejected": "Rejected",
}
FIELDS: Final[dict[str, str]] = {
    "name": "Name",
    "external_id": "External id",
    "description": "Description",
    "type": "Type",
    "status": "Status",
    "geometry": "boundary",
    "location": "location",
    "metadata": "metadata",
}
_MEGABYTE: Final = 1024 * 1024


def counted(number: int, noun: str) -> str:
    """``1 project``, ``12 projects``; nouns are plural, as the kinds of imports are."""
    return f"{number:,} {noun.removesuffix('s') if number == 1 else noun}"


def size(most: int) -> str:
    """A number of bytes for people: ``1.5 MB``."""
    return f"{most / _MEGABYTE:,.4g} MB" if most >= _MEGABYTE else f"{most / 1024:,.4g} KB"


def formats() -> str:
    """The formats of files that can be imported: ``GeoJSON, … or CSV``."""
    *others, last = FORMATS_IN.values()
    return f"{', '.join(others)} or {last}"


def limits(most: int) -> list[str]:
    """The limits of a file, a phrase each."""
    return [
        formats(),
        f"At most {size(most)} and {FEATURES:,} features",
        f"At most {GEOMETRY_POSITIONS:,} positions in one boundary",
    ]


def summary(found: Mapping[str, Any]) -> str:
    """What an import would do, or has done."""
    counts = found["counts"]
    if found["status"] == "ready" and found["crs"] is None:
        return f"{counted(found['progress']['total'], 'features')}, not judged yet"
    words = ("new", "changed", "the same", "rejected")
    parts = [
        f"{counts[verdict]:,} {word}"
        for verdict, word in zip(VERDICTS, words, strict=True)
        if counts[verdict]
    ]
    if found["status"] == "ready":
        place = len(parts) - bool(counts["rejected"])
        parts[place:place] = overlap_words(found, format_hectares)
    if placeless := counts["without_boundary"]:
        total = sum(counts[verdict] for verdict in ("new", "changed", "same"))
        how_many = "none with" if placeless >= total > 1 else f"{placeless:,} without"
        parts.append(f"{how_many} {'a boundary' if found['kind'] == 'projects' else 'a location'}")
    return ", ".join(parts) or "No features"


def intent(found: Mapping[str, Any]) -> str:
    """What applying does: ``create 12 projects and change 3``."""
    new, changed, kind = found["counts"]["new"], found["counts"]["changed"], found["kind"]
    if new and changed:
        return f"create {counted(new, kind)} and change {changed:,}"
    return f"change {counted(changed, kind)}" if changed else f"create {counted(new, kind)}"


def namesakes(found: Mapping[str, Any], number: int) -> str:
    """What to know of features that have the name of what is there."""
    one, kind = found["kind"].removesuffix("s"), found["kind"]
    if number == 1:
        return (
            f"One new {one} has the name of another {one}, but is not the same. If it is the same "
            "forest, have features change what has their name."
        )
    return (
        f"{number:,} new {kind} have the names of other {kind}, but are not the same. If they are "
        "the same forests, have features change what has their name."
    )


def undo_consequence(found: Mapping[str, Any], can: AvailableActions) -> str:
    """What an undo does, in numbers."""
    kind, parts = found["kind"], []
    if can.created:
        parts.append(f"deletes the {counted(can.created, kind)} that it created")
    if can.changed:
        parts.append(f"restores the {counted(can.changed, kind)} that it changed")
    return f"This {' and '.join(parts)}."


def why_not(found: Mapping[str, Any]) -> str | None:
    """Why an import that is ready cannot be applied; None: it can."""
    if must_answer(found["questions"]):
        return "Answer the question above first."
    if found["crs"] is None:  # read by an earlier version
        return "First say which coordinate system the file uses."
    counts = found["counts"]
    if counts["new"] or counts["changed"]:
        return None
    if counts["rejected"] and not counts["same"]:
        return "Nothing to apply: every feature was rejected."
    return "Nothing to apply: no feature is new or changed."


def percent(found: Mapping[str, Any]) -> int | None:
    """How far a step is; None: nobody knows yet."""
    done, total = found["progress"]["done"], found["progress"]["total"]
    return min(100, done * 100 // total) if total else None


def matches(kind: str) -> list[tuple[str, str, str]]:
    """The ways in which a feature finds what it changes: value, name, meaning."""
    one = kind.removesuffix("s")
    return [
        ("external_id", "By external id", f"the {one} that has the feature’s external id"),
        ("name", "By name", f"the {one} that has the feature’s name, ignoring case"),
        ("none", "Nothing", f"each feature becomes a new {one}, unless the same one is there"),
    ]


def has_fault(found: Mapping[str, Any], message: str) -> bool:
    """Return whether some features were rejected for a reason."""
    return any(fault["message"] == message for fault in found["faults"])


countries = country_words


def changes(fields: Iterable[str]) -> str:
    """The fields that differ."""
    return ", ".join(FIELDS.get(name, name).lower() for name in fields)


def place(coordinates: Sequence[float] | None) -> str | None:
    """``44.50000° N, 122.10000° W``; None for what is not on the Earth."""
    if not coordinates or abs(coordinates[0]) > 180 or abs(coordinates[1]) > 90:
        return None
    longitude, latitude = coordinates[:2]
    north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
    return f"{abs(latitude):.5f}° {north}, {abs(longitude):.5f}° {east}"
