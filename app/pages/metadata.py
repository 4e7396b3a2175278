"""Metadata as people read and write it: names and texts."""

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
    """A row of a form: a name, the text of its value, and, as a JSON array, the name and the value
    that the row was made of; empty for a new one."""

    name: str = ""
    text: str = ""
    was: str = ""

    @property
    def has_lines(self) -> bool:
        """True if the text needs a field that keeps line breaks."""
        return "\n" in self.text


def linked_metadata(value: Any, path: str, **query: str) -> list[tuple[str, str, str | None]]:
    """The metadata of a record as names and texts, each with the address of the list of records
    that have it, too; None: a list cannot be filtered by it. Values that are not text are JSON.

    Args:
        path: the address of the list; ``query`` are its other parameters.
    """
    rows = []
    for name, each in _parsed(value).items():
        text, parameter = _text_of(each), f"{METADATA_PREFIX}{name}"
        is_short = max(len(parameter), len(text)) <= FIELD_LENGTH
        is_filter = text and is_short and isinstance(each, str | int | float)
        address = f"{path}?{urlencode({**query, parameter: text})}"
        rows.append((name, text, address if is_filter else None))
    return rows


def metadata_rows(value: Any) -> list[Row]:
    """The metadata of a record as the rows of a form."""
    return [
        Row(name, _text_of(each), dumps([name, each]).decode())
        for name, each in _parsed(value).items()
    ]


def listed_metadata(rows: Sequence[Row]) -> str:
    """The rows of a form in one line, to compare them."""
    return ", ".join(f"{row.name}: {with_line_feeds(row.text)}" for row in rows)


def sent_metadata(form: MultiDict[str, str]) -> list[Row]:
    """The rows of a form in which something was written."""
    names, texts = form.getlist("metadata_name"), form.getlist("metadata_value")
    pairs = list(zip(names, texts, strict=False))
    before = form.getlist("metadata_was") + [""] * len(pairs)
    rows = [
        Row(name.strip(), with_line_feeds(text), was)
        for (name, text), was in zip(pairs, before, strict=False)
    ]
    return [row for row in rows if row.name or row.text.strip()]


def read_metadata(rows: Sequence[Row]) -> tuple[dict[str, Any] | None, list[str]]:
    """The metadata of rows, None where there are none, and what is wrong with them.

    A text that was not changed is the value that it was made of, also under another name. Where
    that value was no text, a changed one is read as JSON, if it is that.
    """
    read = dict[str, Any]()
    problems: list[str] = []
    for row in rows:
        name, value = _read(row)
        if not name:
            problems.append(f"The value {row.text[:50]!r} needs a name.")
        elif name in read:
            problems.append(f"The name {name[:50]!r} is there twice.")
        read[name] = value
    return read or None, problems


def _read(row: Row) -> tuple[str, Any]:
    """The name and the value of a row."""
    was = _json_or_text(row.was)
    if not (isinstance(was, list) and len(was) == 2 and isinstance(was[0], str)):
        return row.name, row.text
    name, value = was
    if row.name != name.replace("\r", "").replace("\n", "").strip():  # as a field shows it
        name = row.name
    if row.text == with_line_feeds(_text_of(value)):
        return name, value
    return name, row.text if isinstance(value, str) else _json_or_text(row.text)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value).decode()


def _parsed(value: Any) -> Any:
    parsed = loads(dumps(value)) if isinstance(value, Fragment) else value
    return display_json(parsed or {})


def _json_or_text(text: str) -> Any:
    try:
        return loads(text.encode())
    except (JsonInvalid, UnicodeEncodeError):
        return text
