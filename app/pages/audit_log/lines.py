"""An entry of the audit log as the page shows it: one line, with its changes below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.pages.audit_log.sentences import Sentence, entry_sentence
from app.pages.audit_log.values import Value, parts_of, value_of
from app.site.browsers import browser_name
from app.values.ids import is_id

_GEOMETRY: Final = "geometry"
_AREA: Final = "area_hectares"
_UPDATED: Final = ".updated"
_MASKED: Final = Value("unset", "the same, except for what … hides")


class Change(NamedTuple):
    """The label of a field, with its former and present value."""

    name: str
    before: Value
    after: Value


class LoggedBoundary(NamedTuple):
    """How a boundary changed, in hectares; None where that is unknown. ``ids`` are those of the
    former and the present boundary in the history."""

    before: float | None
    after: float | None
    added: float | None
    removed: float | None
    ids: tuple[str, ...]
    is_new: bool


class Line(NamedTuple):
    """An entry. ``client`` is the browser or the program that sent the request; ``is_new`` is True
    if the fields are those of something new."""

    entry: Mapping[str, Any]
    sentence: Sentence
    client: str
    changes: list[Change]
    boundary: LoggedBoundary | None
    is_new: bool

    @property
    def changed(self) -> str:
        """The labels of the fields that changed, separated by commas; empty if all is new."""
        if self.is_new:
            return ""
        names = ["Boundary"] if self.boundary else []
        names += [
            change.name for change in self.changes if not change.name.startswith("Metadata: ")
        ]
        if len(names) - bool(self.boundary) < len(self.changes):
            names.append("Metadata")
        return ", ".join([names[0], *(lowered_label(name) for name in names[1:])]) if names else ""


def line_of(entry: Mapping[str, Any]) -> Line:
    """Return the line for the parsed body of an entry."""
    changes = dict(entry["changes"] or {})
    boundary = boundary_of(changes)
    if boundary is not None:
        del changes[_GEOMETRY]
        changes.pop(_AREA, None)
    pairs = {name: _former_and_present(change) for name, change in changes.items()}
    return Line(
        entry,
        entry_sentence(entry),
        _client_name(entry),
        [
            Change(label, value_of(name, before), _present_value(name, before, after))
            for name, pair in pairs.items()
            for label, (before, after) in parts_of(name, *pair).items()
        ],
        boundary,
        is_new=not entry["action"].endswith(_UPDATED)
        and all(before is None for before, _ in pairs.values()),
    )


def boundary_of(changes: Mapping[str, Any]) -> LoggedBoundary | None:
    """Return how a boundary changed, by the ``changes`` of an entry; None if it did not."""
    change = changes.get(_GEOMETRY)
    if not isinstance(change, Mapping):
        return None
    former, present = change.get("from"), change.get("to")
    ids = (side.get("boundary_id") for side in (former, present) if isinstance(side, Mapping))
    before, after = _former_and_present(changes.get(_AREA))
    return LoggedBoundary(
        _number_of(before),
        _number_of(after),
        _number_of(change.get("added_hectares")),
        _number_of(change.get("removed_hectares")),
        tuple(key for key in ids if isinstance(key, str) and is_id("boundary", key)),
        is_new=former is None and present is not None,
    )


def _number_of(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None


def _former_and_present(change: Any) -> tuple[Any, Any]:
    """Return (former value, present value). A later version may write changes in another way."""
    if isinstance(change, Mapping) and change.keys() <= {"from", "to"}:
        return change.get("from"), change.get("to")
    return None, change


def _present_value(name: str, before: Any, after: Any) -> Value:
    """Return the present value of a field. It equals the former if only a masked part changed."""
    is_same = isinstance(before, str) and before == after
    return _MASKED if is_same else value_of(name, after)


def _client_name(entry: Mapping[str, Any]) -> str:
    """Return the name of the browser, program or command that made an entry."""
    agent = entry["via"].get("user_agent")
    if not agent:
        return ""
    return agent if entry["actor"]["type"] == "operator" else browser_name(agent)


def lowered_label(name: str) -> str:
    """Return a label as it is written within a sentence: ``name``, but ``API key``."""
    return name if name[:2].isupper() else name[0].lower() + name[1:]
