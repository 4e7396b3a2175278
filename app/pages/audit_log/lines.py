"""An entry of the audit log as the page shows it: one line, and what opening it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.pages.audit_log.sentences import Sentence, sentence
from app.pages.audit_log.values import Value, parts_of, value_of
from app.site.browsers import browser_name
from app.values.ids import is_id

_GEOMETRY: Final = "geometry"
_AREA: Final = "area_hectares"
_UPDATED: Final = ".updated"
_MASKED: Final = Value("unset", "the same, except for what … hides")


class Change(NamedTuple):
    """A field in words, with what it was and what it is."""

    name: str
    before: Value
    after: Value


class LoggedBoundary(NamedTuple):
    """How a boundary changed, in hectares; None where that is not known. ``ids`` are those of its
    kept boundaries, the former and the present one."""

    before: float | None
    after: float | None
    added: float | None
    removed: float | None
    ids: tuple[str, ...]
    is_new: bool


class Line(NamedTuple):
    """An entry. ``is_new`` says that its fields are those of something new; ``way`` is by what it
    came, in words."""

    entry: Mapping[str, Any]
    sentence: Sentence
    way: str
    changes: list[Change]
    boundary: LoggedBoundary | None
    is_new: bool

    @property
    def changed(self) -> str:
        """The names of what changed, for the line; empty if all of it is new or nothing is told."""
        if self.is_new:
            return ""
        names = ["Boundary"] if self.boundary else []
        names += [each.name for each in self.changes if not each.name.startswith("Metadata: ")]
        if len(names) - bool(self.boundary) < len(self.changes):
            names.append("Metadata")
        return ", ".join([names[0], *(lowered(name) for name in names[1:])]) if names else ""


def line_of(entry: Mapping[str, Any]) -> Line:
    """An entry's line.

    Args:
        entry: its body, read.
    """
    changes = dict(entry["changes"] or {})
    boundary = boundary_of(changes)
    if boundary is not None:
        del changes[_GEOMETRY]
        changes.pop(_AREA, None)
    pairs = {name: _pair(change) for name, change in changes.items()}
    return Line(
        entry,
        sentence(entry),
        _way(entry),
        [
            Change(words, value_of(name, before), _after(name, before, after))
            for name, pair in pairs.items()
            for words, (before, after) in parts_of(name, *pair).items()
        ],
        boundary,
        is_new=not entry["action"].endswith(_UPDATED)
        and all(before is None for before, _ in pairs.values()),
    )


def boundary_of(changes: Mapping[str, Any]) -> LoggedBoundary | None:
    """How a boundary changed; None if it did not.

    Args:
        changes: of an entry.
    """
    change = changes.get(_GEOMETRY)
    if not isinstance(change, Mapping):
        return None
    former, present = change.get("from"), change.get("to")
    ids = (each.get("boundary_id") for each in (former, present) if isinstance(each, Mapping))
    before, after = _pair(changes.get(_AREA))
    return LoggedBoundary(
        _number(before),
        _number(after),
        _number(change.get("added_hectares")),
        _number(change.get("removed_hectares")),
        tuple(each for each in ids if isinstance(each, str) and is_id("boundary", each)),
        is_new=former is None and present is not None,
    )


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None


def _pair(change: Any) -> tuple[Any, Any]:
    """What something was and is. A change of a later version may say it in another way."""
    if isinstance(change, Mapping) and change.keys() <= {"from", "to"}:
        return change.get("from"), change.get("to")
    return None, change


def _after(name: str, before: Any, after: Any) -> Value:
    """What a field is now. It reads as before if only what is masked in it changed."""
    is_same = isinstance(before, str) and before == after
    return _MASKED if is_same else value_of(name, after)


def _way(entry: Mapping[str, Any]) -> str:
    """By what it came: a browser, a program, or a command."""
    agent = entry["via"].get("user_agent")
    if not agent:
        return ""
    return agent if entry["actor"]["type"] == "operator" else browser_name(agent)


def lowered(name: str) -> str:
    """Return a field's name as it is written within a sentence: ``name``, but ``API key``."""
    return name if name[:2].isupper() else name[0].lower() + name[1:]
