"""What the pages of imports say, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from app.geometry.plain_words import DRAWN, plain_message
from app.imports.available_actions import AvailableActions
from app.imports.features.faults import without_numbers
from app.imports.features.mapping import ColumnMapping, ignored_among
from app.imports.questions import required_question
from app.imports.record import country_words, overlap_words
from app.pages.imports.settings_form import FileReading
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
_KEYS_SHOWN: Final = 10
_WARNINGS: Final[dict[str, str]] = {
    "spike": "with spikes",
    "repeated_position": "with repeated corners",
    "sliver": "with slivers",
    "in_the_sea": "in the sea, far from land",
    "several_countries": "in several countries",
    "countries_not_checked": "too complex to be compared with countries",
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
    if is_open(found):
        return f"{counted(found['progress']['total'], 'features')}, not judged yet"
    words = ("new", "changed", "the same", "rejected", "left out")
    parts = [
        f"{counts[name]:,} {word}"
        for name, word in zip((*VERDICTS, "left_out"), words, strict=True)
        if counts[name]
    ]
    if found["status"] == "ready":
        place = len(parts) - bool(counts["rejected"]) - bool(counts["left_out"])
        parts[place:place] = overlap_words(found, format_hectares)
    parts += _placeless(found)
    return ", ".join(parts) or "No features"


def _placeless(found: Mapping[str, Any]) -> list[str]:
    counts = found["counts"]
    placeless = counts["without_boundary"]
    if not placeless:
        return []
    total = sum(counts[verdict] for verdict in ("new", "changed", "same"))
    how_many = "none with" if placeless >= total > 1 else f"{placeless:,} without"
    return [f"{how_many} {'a boundary' if found['kind'] == 'projects' else 'a location'}"]


def is_open(found: Mapping[str, Any]) -> bool:
    """Whether no feature is judged before a question is answered."""
    is_judged = any(found["counts"][verdict] for verdict in ("new", "changed", "same"))
    is_asked = found["crs"] is None or found["message"] is not None
    return found["status"] == "ready" and is_asked and not is_judged


def status(found: Mapping[str, Any]) -> tuple[str, str]:
    """The words for the status of an import, and the class of their tag."""
    is_asked = found["status"] == "ready" and found["message"] is not None
    return ("Waits for an answer", "draft") if is_asked else STATUSES[found["status"]]


def intent(found: Mapping[str, Any]) -> str:
    """What applying does: ``create 12 projects and change 3``."""
    new, changed, kind = found["counts"]["new"], found["counts"]["changed"], found["kind"]
    words = _created(new, found["counts"]["new_plots"], kind)
    if new and changed:
        return f"create {words} and change {changed:,}"
    return f"change {counted(changed, kind)}" if changed else f"create {words}"


def _created(number: int, plots: int, kind: str) -> str:
    """``12 projects``, or ``12 projects and 3 plots``; ``number`` counts both."""
    if not plots:
        return counted(number, kind)
    others = f"{counted(number - plots, kind)} and " if number > plots else ""
    return f"{others}{counted(plots, 'plots')}"


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
        words = _created(can.created, can.created_plots, kind)
        parts.append(f"deletes the {words} that it created")
    if can.changed:
        parts.append(f"restores the {counted(can.changed, kind)} that it changed")
    return f"This {' and '.join(parts)}."


def why_not(found: Mapping[str, Any]) -> str | None:
    """Why an import that is ready cannot be applied; None: it can."""
    if required_question(found["questions"]):
        return "Answer the question above first."
    counts = found["counts"]
    if counts["new"] or counts["changed"]:
        return None
    if counts["left_out"]:
        return "Nothing to apply: no feature that is new or changed is left in."
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


def odd(warning: Mapping[str, Any]) -> str:
    """``3 features with slivers``."""
    return f"{counted(warning['features'], 'features')} {_WARNINGS[warning['code']]}"


class Fault(NamedTuple):
    """A problem of a feature, in plain words, with the places where it is: longitude, latitude, and
    both as a text. ``code`` is that of the problem."""

    code: str
    message: str
    places: list[tuple[float, float, str]]


def faults(problems: Iterable[Mapping[str, Any]]) -> list[Fault]:
    """The problems of a feature, each with all of its places. Those that differ in numbers alone
    are one."""
    found: dict[str, Fault] = {}
    for problem in problems:
        message = plain_message(problem["code"], problem["message"])
        key = without_numbers(message)
        fault = found.setdefault(key, Fault(problem["code"], message, []))
        coordinates = problem["coordinates"]
        if text := place(coordinates):
            fault.places.append((coordinates[0], coordinates[1], text))
    return list(found.values())


def is_mendable(feature: Mapping[str, Any]) -> bool:
    """Whether a feature was rejected for its shape alone, which the editor can change."""
    problems = feature["problems"]
    return bool(problems) and all(problem["code"] in DRAWN for problem in problems)


def changes(feature: Mapping[str, Any]) -> str:
    """The fields that differ, with the keys of the metadata."""
    names = [FIELDS.get(name, name).lower() for name in feature["changes"]]
    if keys := feature["metadata_changes"]:
        listed = ", ".join(keys[:_KEYS_SHOWN])
        more = len(keys) - _KEYS_SHOWN
        keys_text = f"metadata ({listed}{f' and {more} more' if more > 0 else ''})"
        names = [keys_text if name == "metadata" else name for name in names]
    return ", ".join(names)


def read_as(found: Mapping[str, Any], reading: FileReading) -> list[tuple[str, list[str]]]:
    """Where each column goes: what it becomes, with its columns. A name can have none."""
    if found["mapping"] is None or reading.layer is None:
        return []
    places: dict[str, list[str]] = {"Name": []}
    for field, number in reading.fields.items():
        if number.isdecimal():
            places[FIELDS[field]] = [reading.columns[int(number)]]
    used = ColumnMapping.from_json(found["mapping"]).used
    places["Geometry"] = reading.geometry_columns
    ignored = ignored_among(reading.columns, found["kind"])
    chosen = None if reading.metadata is None else {reading.columns[n] for n in reading.metadata}
    others = [name for name in reading.columns if name not in used]
    metadata = [
        name for name in others if (name not in ignored if chosen is None else name in chosen)
    ]
    places["Metadata"] = metadata
    places["Not imported"] = [name for name in others if name not in set(metadata)]
    return [(label, names) for label, names in places.items() if names or label == "Name"]


def places(question: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Where a question's answers put the file, with their numbers, and where it is now."""
    numbered = [(str(n), each["bbox"]) for n, each in enumerate(question["options"], start=1)]
    all_places = [("now", question["bbox"]), *numbered]
    return [{"label": label, "bbox": bbox} for label, bbox in all_places if bbox]


def middle(box: Sequence[float] | None) -> str | None:
    """The middle of a box as a text; None: there is none."""
    if box is None:
        return None
    west, south, east, north = box
    return place([(west + (east - west) % 360 / 2 + 180) % 360 - 180, (south + north) / 2], 2)


def place(coordinates: Sequence[float] | None, digits: int = 5) -> str | None:
    """``44.50000° N, 122.10000° W``; None for what is not on the Earth."""
    if not coordinates or abs(coordinates[0]) > 180 or abs(coordinates[1]) > 90:
        return None
    longitude, latitude = coordinates[:2]
    north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
    return f"{abs(latitude):.{digits}f}° {north}, {abs(longitude):.{digits}f}° {east}"
