"""The plans of the statements that a call sends, and what the indexes weigh."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from app.db import queries
from app.db.queries import reading_engine
from app.lists import totals

_LIST = re.compile(r"\b(projects|assets)(_text|_box)?\b")
_PARAMETER = re.compile(r"%\((\w+)\)s")

# PostgreSQL plans for these values, or for any; with "run" it tells rows and times as well.
Kind = Literal["values", "any", "run"]


def sent_by(call: Callable[[], Any]) -> list[tuple[str, dict[str, Any]]]:
    """The statements on projects and assets that a call reads with, and their parameters."""
    seen: list[tuple[str, dict[str, Any]]] = []
    execute = queries._execute_statement

    def note(source: Any, statement: Any, values: dict[str, Any], *number: int) -> Any:
        if _LIST.search(statement.text):
            seen.append((statement.text, values))
        return execute(source, statement, values, *number)

    queries._execute_statement = note
    totals.forget_totals()
    try:
        call()
    finally:
        queries._execute_statement = execute
    return seen


def of(call: Callable[[], Any], kind: Kind) -> list[str]:
    """The plan of each of these statements, as the database shows it; SQLite has but one kind."""
    return [_plan(text, values, kind) for text, values in sent_by(call)]


def _plan(text: str, values: dict[str, Any], kind: Kind) -> str:
    source = reading_engine()
    connection = source.raw_connection()
    try:
        cursor: Any = connection.cursor()
        if source.dialect.name == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {text}", values)
            return _tree(cursor.fetchall())
        if kind == "any":
            cursor.execute(f"EXPLAIN (GENERIC_PLAN, COSTS OFF) {_numbered(text)}", prepare=False)
        else:
            options = "ANALYZE, BUFFERS OFF, COSTS OFF" if kind == "run" else "COSTS OFF"
            cursor.execute(f"EXPLAIN ({options}) {text}", values, prepare=False)
        return "\n".join(row[0] for row in cursor.fetchall())
    finally:
        connection.close()


def _numbered(text: str) -> str:
    """A statement for psycopg as one for PostgreSQL, with its parameters not given."""
    names = list(dict.fromkeys(_PARAMETER.findall(text)))
    return _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", text).replace("%%", "%")


def _tree(rows: list[tuple[int, int, int, str]]) -> str:
    """SQLite's plan, indented: each row names the one above it."""
    depths = {0: -1}
    lines = []
    for number, parent, _, detail in rows:
        depths[number] = depths[parent] + 1
        lines.append("  " * depths[number] + detail)
    return "\n".join(lines)


def bytes_per_row(rows: int) -> dict[str, float]:
    """The size of the projects and of each of their indexes, in bytes a row."""
    source = reading_engine()
    with source.connect() as connection:
        if source.dialect.name == "sqlite":
            found = connection.exec_driver_sql(
                "SELECT name, sum(pgsize) FROM dbstat WHERE name LIKE '%projects%' GROUP BY name"
            )
        else:
            found = connection.exec_driver_sql(
                "SELECT 'projects', pg_table_size('projects') UNION ALL "
                "SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) FROM pg_index "
                "WHERE indrelid = 'projects'::regclass"
            )
        return {name: size / rows for name, size in found if size / rows >= 1}
