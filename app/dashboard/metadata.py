"""Metadata as people read and write it: names and texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from werkzeug.datastructures import MultiDict

from app.values.strict_json import Fragment, JsonInvalid, dumps, loads

Pairs = list[tuple[str, str]]


def metadata_texts(value: Any) -> Pairs:
    """The metadata of a record as names and texts; values that are not text are JSON."""
    return [
        (name, each if isinstance(each, str) else dumps(each).decode())
        for name, each in _parsed(value).items()
    ]


def sent_metadata(form: MultiDict[str, str]) -> Pairs:
    """The rows of a form in which something was written."""
    names, values = form.getlist("metadata_name"), form.getlist("metadata_value")
    pairs = zip(names, values, strict=False)
    return [(name.strip(), value) for name, value in pairs if name.strip() or value.strip()]


def read_metadata(
    pairs: Sequence[tuple[str, str]], before: Any = None
) -> tuple[dict[str, Any] | None, list[str]]:
    """The metadata of rows, None where there are none, and what is wrong with them.

    A value that was no text is read as JSON again.

    Args:
        before: the metadata of the record as it is.
    """
    known, read = _parsed(before), dict[str, Any]()
    problems: list[str] = []
    for name, text in pairs:
        if not name:
            problems.append(f"The value {text[:50]!r} needs a name.")
        elif name in read:
            problems.append(f"The name {name[:50]!r} is there twice.")
        read[name] = text if isinstance(known.get(name, ""), str) else _json_or_text(text)
    return read or None, problems


def _parsed(value: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = loads(dumps(value)) if isinstance(value, Fragment) else value
    return parsed or {}


def _json_or_text(text: str) -> Any:
    try:
        return loads(text.encode())
    except (JsonInvalid, UnicodeEncodeError):
        return text
