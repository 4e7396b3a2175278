"""The filter by a key of the metadata, ``metadata.KEY=value``: a text is compared exactly, a number
or a boolean by its JSON text.

No index has the metadata. So a row is first searched for the text of key and value in the stored
compact JSON. Only if it has that, the metadata is parsed, as the text may be in an inner object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson
from sqlalchemy import (
    ColumnElement,
    String,
    and_,
    bindparam,
    case,
    cast,
    false,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.types import NullType

from app.values.strict_json import dumps

_KINDS: Final[dict[type, str]] = {int: "integer", float: "real"}  # types of SQLite's json_each
_TEXT: Final[ColumnElement[str]] = literal_column("'text'")
_SIMPLE: Final[list[ColumnElement[str]]] = [
    literal_column(f"'{kind}'") for kind in ("string", "number", "boolean")
]
Bind = Callable[[str], ColumnElement[Any]]  # a parameter of the statement


def metadata_test(column: ColumnElement[Any], dialect: str, bind: Bind) -> ColumnElement[bool]:
    """Select rows whose metadata has the value at the key.

    Args:
        bind: makes a parameter by its name in ``metadata_values``.
    """
    position = func.strpos if dialect == "postgresql" else func.instr
    has_text = or_(*(position(column, bind(name)) > 0 for name in ("as_text", "as_other")))
    exact = _on_postgresql if dialect == "postgresql" else _on_sqlite
    return case((has_text, exact(column, bind)), else_=false())


def metadata_values(key: str, value: str) -> dict[str, Any]:
    """The values of the parameters of a filter."""
    name = dumps(key).decode()
    kind, number = _number_or_boolean(value)
    other = dumps(value).decode() if kind is None else value
    return {
        "key": key,
        "text": value,
        "as_text": f"{name}:{dumps(value).decode()}",
        "as_other": f"{name}:{other}",
        "kind": kind,
        "number": number,
    }


def numbered_tests(
    column: ColumnElement[Any], dialect: str, number: int
) -> list[ColumnElement[bool]]:
    """The tests of a statement with ``number`` filters, and the parameters of
    ``numbered_values``."""
    return [metadata_test(column, dialect, _Numbered(index)) for index in range(number)]


def numbered_values(filters: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of ``numbered_tests``."""
    return {
        f"metadata_{index}_{name}": parameter
        for index, (key, value) in enumerate(filters.items())
        for name, parameter in metadata_values(key, value).items()
    }


class _Numbered:
    """The parameters of one of several filters."""

    def __init__(self, index: int) -> None:
        self._index = index

    def __call__(self, name: str) -> ColumnElement[Any]:
        kind = NullType() if name in ("kind", "number") else String()
        return bindparam(f"metadata_{self._index}_{name}", type_=kind)


def _number_or_boolean(value: str) -> tuple[str | None, Any]:
    """Return (kind, value) of the text of a number or a boolean; (None, None) for any other."""
    if value in ("true", "false"):
        return value, int(value == "true")
    try:
        number = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None, None
    kind = _KINDS.get(type(number))
    return (kind, number) if kind else (None, None)


def _on_sqlite(column: ColumnElement[Any], bind: Bind) -> ColumnElement[bool]:
    entry = func.json_each(column).table_valued("key", "value", "type").alias("entry")
    return (
        select(entry.c.key)
        .where(
            entry.c.key == bind("key"),
            or_(
                and_(entry.c.type == _TEXT, entry.c.value == bind("text")),
                and_(entry.c.type == bind("kind"), entry.c.value == bind("number")),
            ),
        )
        .exists()
    )


def _on_postgresql(column: ColumnElement[Any], bind: Bind) -> ColumnElement[bool]:
    parsed, key = cast(column, JSON), bind("key")
    kind = func.json_typeof(func.json_extract_path(parsed, key))
    text = func.json_extract_path_text(parsed, key)
    return and_(kind.in_(_SIMPLE), text == bind("text"))
