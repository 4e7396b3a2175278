"""Texts of the pages of imports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from app.formats.encodings import NAMES
from app.geometry.plain_words import MENDABLE, plain_message
from app.imports.available_actions import AvailableActions
from app.imports.features.mapping import ColumnMapping, are_plots, ignored_among
from app.imports.features.summary import without_numbers
from app.imports.questions import required_question
from app.imports.record import country_words, overlap_words
from app.pages.imports.settings_form import FileReading
from app.policy.files import FEATURES, FORMATS_IN
from app.policy.request_limits import GEOMETRY_POSITIONS
from app.site.formats import area, byte_size, degrees, pluralize, reader, sentence
from app.site.formats import number as written
from app.values.formats import format_in

# The text of each status, and the class of its tag.
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
# The parts of the list of features: by their verdicts, and others.
SHOWN: Final = VERDICTS | {"overlapping": "Overlapping", "left_out": "Left out", "kept": "Kept"}
ENCODINGS: Final = NAMES
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
_LISTED_KEYS: Final = 10
_NOT_ABOUT_SHAPES: Final = {"name", "encoding"}  # codes of questions
_WARNINGS: Final[dict[str, str]] = {
    "spike": "with spikes",
    "repeated_position": "with repeated corners",
    "sliver": "with slivers",
    "in_the_sea": "in the sea, far from land",
    "several_countries": "in several countries",
    "countries_not_checked": "too complex to be compared with countries",
}


def may_be_plots(record: Mapping[str, Any]) -> bool:
    """True for projects, and for assets from a file for the EUDR."""
    columns = [each["columns"] for each in record["layers"] if each["name"] == record["layer"]]
    return record["kind"] == "projects" or any(map(are_plots, columns))


def counted(number: int, noun: str) -> str:
    """``1 project``, ``12 projects``, from a plural noun."""
    return pluralize(number, noun.removesuffix("s"))


def formats() -> str:
    """The formats of files that can be imported: ``GeoJSON, … or CSV``."""
    *others, last = FORMATS_IN.values()
    return f"{', '.join(others)} or {last}"


def limits(max_bytes: int) -> list[str]:
    """The limits of a file, a phrase each."""
    return [
        formats(),
        f"At most {byte_size(max_bytes)} and {written(FEATURES)} features",
        f"At most {written(GEOMETRY_POSITIONS)} positions in one boundary",
    ]


def summary(record: Mapping[str, Any]) -> str:
    """A sentence about what an import would do, or has done."""
    counts = record["counts"]
    if is_open(record):
        return f"{counted(record['progress']['total'], 'features')}, not judged yet"
    words = VERDICTS | {"left_out": "left out"}
    parts = [f"{written(counts[name])} {words[name].lower()}" for name in words if counts[name]]
    if record["status"] == "ready":
        english = format_in("en", reader().area_unit)
        place = len(parts) - bool(counts["rejected"]) - bool(counts["left_out"])
        parts[place:place] = map(sentence, overlap_words(record, english.area))
    parts += _placeless_phrases(record)
    return ", ".join(parts) or "No features"


def _placeless_phrases(record: Mapping[str, Any]) -> list[str]:
    counts = record["counts"]
    placeless = counts["without_boundary"]
    if not placeless:
        return []
    total = sum(counts[verdict] for verdict in ("new", "changed", "same"))
    how_many = "none with" if placeless >= total > 1 else f"{written(placeless)} without"
    return [f"{how_many} {'a boundary' if record['kind'] == 'projects' else 'a location'}"]


def is_open(record: Mapping[str, Any]) -> bool:
    """True if no feature can be judged before a question is answered, or taken before one about
    its shape is."""
    is_judged = any(record["counts"][verdict] for verdict in ("new", "changed", "same"))
    asked = {question["code"] for question in record.get("questions", ())}
    is_asked = record["crs"] is None or bool(asked - _NOT_ABOUT_SHAPES)
    return record["status"] == "ready" and is_asked and not is_judged


def status(record: Mapping[str, Any]) -> tuple[str, str]:
    """The text of an import's status, and the class of its tag."""
    is_asked = is_open(record) or (record["status"] == "ready" and record["message"] is not None)
    return ("Waits for an answer", "draft") if is_asked else STATUSES[record["status"]]


def intent(record: Mapping[str, Any]) -> str:
    """The effect of applying: ``create 12 projects and change 3``."""
    new, changed, kind = record["counts"]["new"], record["counts"]["changed"], record["kind"]
    words = _created_text(new, record["counts"]["new_plots"], record)
    if new and changed:
        return f"create {words} and change {written(changed)}"
    return f"change {counted(changed, kind)}" if changed else f"create {words}"


def _created_text(number: int, plots: int, record: Mapping[str, Any]) -> str:
    """``12 projects``, or ``12 projects and 3 plots``; ``number`` counts both."""
    kind = record["kind"]
    if not plots:
        return counted(number, kind)
    others = f"{counted(number - plots, kind)} and " if number > plots else ""
    return f"{others}{counted(plots, record['points'] or 'plots')}"


def namesakes(record: Mapping[str, Any], number: int) -> str:
    """A hint about new features whose names are in use."""
    singular, kind = record["kind"].removesuffix("s"), record["kind"]
    text = (
        f"One new {singular} has the name of another {singular}, but is not the same. If it is the "
        "same forest"
        if number == 1
        else f"{written(number)} new {kind} have the names of other {kind}, but are not the same. "
        "If they are the same forests"
    )
    return f"{text}, have features change what has their name."


def undo_consequence(record: Mapping[str, Any], can: AvailableActions) -> str:
    """A sentence about what an undo does."""
    kind, parts = record["kind"], []
    if can.created:
        words = _created_text(can.created, can.created_plots, record)
        parts.append(f"deletes the {words} that it created")
    if can.changed:
        parts.append(f"restores the {counted(can.changed, kind)} that it changed")
    return f"This {' and '.join(parts)}."


def why_not(record: Mapping[str, Any]) -> str | None:
    """The reason why an import that is ready cannot be applied, or None."""
    if is_open(record) or required_question(record["questions"]):
        return "Answer the question above first."
    counts = record["counts"]
    if counts["new"] or counts["changed"]:
        return None
    if counts["left_out"]:
        return "Nothing to apply: no feature that is new or changed is left in."
    if counts["rejected"] and not counts["same"]:
        return "Nothing to apply: every feature was rejected."
    return "Nothing to apply: no feature is new or changed."


def plan_use(record: Mapping[str, Any], plan: str) -> tuple[str, bool] | None:
    """A sentence about the hectares of the account's plan, and True if they are exceeded; None if
    the plan has no limit, or the import no hectares."""
    areas = record["hectares"]
    limit, is_applied = areas.get("limit"), record["status"] == "applied"
    is_told = is_applied or record["status"] == "ready"
    if limit is None or areas["after"] == areas["before"] or not is_told:
        return None
    total = areas["account"]
    verb = "The account uses" if is_applied else "With this import, the account uses"
    return (
        f"{verb} {area(total)} of the {area(limit, trim=True)} of its plan, {plan}.",
        total > limit,
    )


def percent(record: Mapping[str, Any]) -> int | None:
    """The progress of a step in percent; None: not known yet."""
    done, total = record["progress"]["done"], record["progress"]["total"]
    return min(100, done * 100 // total) if total else None


def matches(kind: str) -> list[tuple[str, str, str]]:
    """The matches: (value, name, meaning)."""
    singular = kind.removesuffix("s")
    return [
        ("external_id", "By external id", f"the {singular} that has the feature’s external id"),
        ("name", "By name", f"the {singular} that has the feature’s name, ignoring case"),
        ("none", "Nothing", f"each feature becomes a new {singular}, unless the same one is there"),
    ]


def has_fault(record: Mapping[str, Any], message: str) -> bool:
    """True if features were rejected with this message."""
    return any(fault["message"] == message for fault in record["faults"])


def countries(record: Mapping[str, Any]) -> str | None:
    """Where the features of an import lie."""
    found = country_words(record)
    return found and sentence(found)


def odd(warning: Mapping[str, Any]) -> str:
    """``3 features with slivers``."""
    return f"{counted(warning['features'], 'features')} {_WARNINGS[warning['code']]}"


class FeatureFault(NamedTuple):
    """A problem of a feature in plain words. ``places``: (longitude, latitude, both as text)."""

    code: str
    message: str
    places: list[tuple[float, float, str]]


def faults(problems: Iterable[Mapping[str, Any]]) -> list[FeatureFault]:
    """The problems of a feature, each with all its places. Messages that differ only in numbers are
    one problem."""
    by_message: dict[str, FeatureFault] = {}
    for problem in problems:
        message = plain_message(problem["code"], problem["message"])
        key, words = without_numbers(message), sentence(message)
        fault = by_message.setdefault(key, FeatureFault(problem["code"], words, []))
        coordinates = problem["coordinates"]
        if text := place(coordinates):
            fault.places.append((coordinates[0], coordinates[1], text))
    return list(by_message.values())


def is_mendable(feature: Mapping[str, Any]) -> bool:
    """True if a feature was rejected only for its shape, which the editor can change."""
    problems = feature["problems"]
    return bool(problems) and all(problem["code"] in MENDABLE for problem in problems)


def changes(feature: Mapping[str, Any]) -> str:
    """The names of the fields that differ, with keys of metadata."""
    names = [FIELDS.get(name, name).lower() for name in feature["changes"]]
    if keys := feature["metadata_changes"]:
        listed = ", ".join(keys[:_LISTED_KEYS])
        more = len(keys) - _LISTED_KEYS
        keys_text = f"metadata ({listed}{f' and {more} more' if more > 0 else ''})"
        names = [keys_text if name == "metadata" else name for name in names]
    return ", ".join(names)


def read_as(record: Mapping[str, Any], reading: FileReading) -> list[tuple[str, list[str]]]:
    """The columns of each field, as (label, columns); only the name may have none."""
    if record["mapping"] is None or reading.layer is None:
        return []
    places: dict[str, list[str]] = {"Name": []}
    for field, number in reading.fields.items():
        if number.isdecimal():
            places[FIELDS[field]] = [reading.columns[int(number)]]
    used = ColumnMapping.from_json(record["mapping"]).used
    places["Geometry"] = reading.geometry_columns
    ignored = ignored_among(reading.columns, record["kind"])
    chosen = None if reading.metadata is None else {reading.columns[n] for n in reading.metadata}
    others = [name for name in reading.columns if name not in used]
    metadata = [
        name for name in others if (name not in ignored if chosen is None else name in chosen)
    ]
    places["Metadata"] = metadata
    places["Not imported"] = [name for name in others if name not in set(metadata)]
    return [(label, names) for label, names in places.items() if names or label == "Name"]


def suggested(record: Mapping[str, Any]) -> dict[str, str]:
    """The columns that are suggested for the external id, each with its first value."""
    samples = (option["sample"] for option in record["suggestions"])
    return {column: values[0] for sample in samples for column, values in sample.items()}


def places(question: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The boxes of a question's answers by number, and of the file as read now."""
    numbered = [(str(n), option["bbox"]) for n, option in enumerate(question["options"], start=1)]
    all_places = [("now", question["bbox"]), *numbered]
    return [{"label": label, "bbox": bbox} for label, bbox in all_places if bbox]


def middle(box: Sequence[float] | None) -> str | None:
    """The middle of a box as text; None without a box."""
    if box is None:
        return None
    west, south, east, north = box
    return place([(west + (east - west) % 360 / 2 + 180) % 360 - 180, (south + north) / 2], 2)


def place(coordinates: Sequence[float] | None, digits: int = 5) -> str | None:
    """``44.50000° N 122.10000° W``; None if it is not on the Earth."""
    if not coordinates or abs(coordinates[0]) > 180 or abs(coordinates[1]) > 90:
        return None
    longitude, latitude = coordinates[:2]
    return degrees(latitude, longitude, digits)
