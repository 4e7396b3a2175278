"""Where an instance still has the id or the address of what was deleted."""

from __future__ import annotations

from pathlib import Path

from flask import Flask
from sqlalchemy import ColumnElement, Table, Text, cast, literal_column, or_, select

from app.db.column_types import metadata
from app.db.extensions import db
from app.jobs.valkey import valkey


def tables_naming(app: Flask, word: str) -> set[str]:
    """The tables in any of whose columns a word is found."""
    with app.app_context():
        return {
            table.name
            for table in metadata.sorted_tables
            if db.session.scalar(
                select(1).select_from(table).where(_is_in_any(table, word)).limit(1)
            )
        }


def _is_in_any(table: Table, word: str) -> ColumnElement[bool]:
    texts = (cast(literal_column(f'"{column.name}"'), Text) for column in table.columns)
    return or_(*(text.contains(word, autoescape=True) for text in texts))


def keys_naming(app: Flask, text: str) -> list[str]:
    """What Valkey has with a text in its name or in its members."""
    with app.app_context():
        client, found = valkey().client, []
        for key in client.scan_iter():
            kind, members = client.type(key), []
            if kind == b"hash":
                members = list(client.hgetall(key))
            elif kind == b"set":
                members = list(client.smembers(key))
            elif kind == b"string":
                members = [client.get(key)]
            found += [f"{name!r} in {key!r}" for name in [key, *members] if text in str(name)]
        return found


def files_naming(folder: Path, text: str) -> list[str]:
    """The files of an instance with a text in them, but for its database."""
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and "sqlite3" not in path.name and text.encode() in path.read_bytes()
    ]
