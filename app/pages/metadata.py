"""Metadata on pages: names and texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from werkzeug.datastructures import MultiDict

from app.api.query_schemas import METADATA_PREFIX
from app.policy.forms import FIELD_LENGTH
from app.values.strict_json import Fragment, JsonInvalid, dumps, loads
from app.values.text import display_json, with_line_feeds


class Row(NamedTuple):
    """A row of a form. ``former`` is a JSON array of the saved name and value; empty for a new
    row."""

    name: str = ""
    text: str = ""
    former: str = ""

    @property
    def has_lines(self) -> bool:
        """True if the text needs a field that keeps line breaks."""
        return "\n" in self.text


def linked_metadata(value: Any, path: str, **query: str) -> list[tuple[str, str, str | None]]:
    """Return (name, text, address) for each key of a record's metadata.

    The text of a value other than a string is JSON. The address lists the records with the same
    value; None if a list cannot be filtered by it.

    Args:
        path: the path of the list.
        query: its other parameters.
    """
    rows = []
    for name, member in _parse_value(value).items():
        text, parameter = _text_of(member), f"{METADATA_PREFIX}{name}"
        is_short = max(len(parameter), len(text)) <= FIELD_LENGTH
        is_filter = text and is_short and isinstance(member, str | int | float)
        address = f"{path}?{urlencode({**query, parameter: text})}"
        rows.append((name, text, address if is_filter else None))
    return rows


def metadata_rows(value: Any) -> list[Row]:
    """Return the metadata of a record as the rows of a form."""
    return [
        Row(name, _text_of(member), dumps([name, member]).decode())
        for name, member in _parse_value(value).items()
    ]


def metadata_line(rows: Sequence[Row]) -> str:
    """Return the rows of a form in one line, to compare them."""
    return ", ".join(f"{row.name}: {with_line_feeds(row.text)}" for row in rows)


def sent_metadata(form: MultiDict[str, str]) -> list[Row]:
    """Return the rows of a form that are not blank."""
    names, texts = form.getlist("metadata_name"), form.getlist("metadata_value")
    pairs = list(zip(names, texts, strict=False))
    former_pairs = form.getlist("metadata_was") + [""] * len(pairs)
    rows = [
        Row(name.strip(), with_line_feeds(text), former)
        for (name, text), former in zip(pairs, former_pairs, strict=False)
    ]
    return [row for row in rows if row.name or row.text.strip()]


def read_metadata(rows: Sequence[Row]) -> tuple[dict[str, Any] | None, list[str]]:
    """Return (metadata, problems) of the rows of a form; the metadata are None without rows.

    A text that was not changed gives the former value, also under another name. Where that value
    is no string, a changed text is read as JSON, or else as a string.
    """
    metadata = dict[str, Any]()
    problems: list[str] = []
    for row in rows:
        name, value = _read_row(row)
        if not name:
            problems.append(f"The value {row.text[:50]!r} needs a name.")
        elif name in metadata:
            problems.append(f"The name {name[:50]!r} is there twice.")
        metadata[name] = value
    return metadata or None, problems


def _read_row(row: Row) -> tuple[str, Any]:
    """Return (name, value) of a row."""
    former = _json_or_text(row.former)
    if not (isinstance(former, list) and len(former) == 2 and isinstance(former[0], str)):
        return row.name, row.text
    name, value = former
    if row.name != name.replace("\r", "").replace("\n", "").strip():  # as a field shows it
        name = row.name
    if row.text == with_line_feeds(_text_of(value)):
        return name, value
    return name, row.text if isinstance(value, str) else _json_or_text(row.text)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value).decode()


def _parse_value(value: Any) -> Any:
    parsed = loads(dumps(value)) if isinstance(value, Fragment) else value
    return display_json(parsed or {})


def _json_or_text(text: str) -> Any:
    try:
        return loads(text.encode())
    except (JsonInvalid, UnicodeEncodeError):
        return text
