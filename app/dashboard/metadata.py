"""Metadata as people read and write it: names and texts."""

from __future__ import annotations

from typing import Any

from app.values.strict_json import Fragment, dumps, loads


def metadata_texts(value: Any) -> list[tuple[str, str]]:
    """The metadata of a record as names and texts; values that are not text are JSON."""
    parsed = loads(dumps(value)) if isinstance(value, Fragment) else value
    return [
        (name, each if isinstance(each, str) else dumps(each).decode())
        for name, each in (parsed or {}).items()
    ]
