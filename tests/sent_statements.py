"""The statements that are sent to databases, through SQLAlchemy or past it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

from app.db.queries import CompiledText


@contextmanager
def sent_statements() -> Iterator[list[str]]:
    """The SQL that is sent in the block; that of many rows is repeated where it goes past
    SQLAlchemy."""
    found: list[str] = []
    bind = CompiledText.bind

    def note(_: Connection, _cursor: Any, statement: str, *_more: Any) -> None:
        found.append(statement)

    def bound(statement: CompiledText, values: Mapping[str, Any]) -> dict[str, Any]:
        found.append(statement.text)
        return bind(statement, values)

    event.listen(Engine, "before_cursor_execute", note)
    CompiledText.bind = bound  # type: ignore[method-assign]
    try:
        yield found
    finally:
        CompiledText.bind = bind  # type: ignore[method-assign]
        event.remove(Engine, "before_cursor_execute", note)
