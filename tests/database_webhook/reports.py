"""Rows changed with SQL, and reported as a trigger of the database would."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from werkzeug.test import TestResponse

from app.db.extensions import db
from app.values.ids import new_id
from tests.make import Client, square
from tests.make.signed import post_signed

SECRET: Final = "the database's secret"
WEBHOOK: Final = "/api/db/webhook"

Row = dict[str, Any]


def sql(client: Client, statement: str, **values: Any) -> None:
    """What somebody does with psql or sqlite3."""
    with client.app.app_context(), db.engine.begin() as connection:
        connection.exec_driver_sql("SELECT 1")
        connection.execute(db.text(statement), values)


def row_of(client: Client, table: str, row_id: str) -> Row:
    """A row as a trigger has it in JSON."""
    with client.app.app_context(), db.engine.begin() as connection:
        found = connection.execute(db.text(f"SELECT * FROM {table} WHERE id = :id"), {"id": row_id})
        row = dict(found.mappings().one())
    return {name: _in_json(value) for name, value in row.items()}


def _in_json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def change(client: Client, table: str, row_id: str, **columns: Any) -> Row:
    """Change columns of a row with SQL. Returns what a trigger would report."""
    before = row_of(client, table, row_id)
    set_ = ", ".join(f"{name} = :{name}" for name in columns)
    sql(client, f"UPDATE {table} SET {set_} WHERE id = :id", id=row_id, **columns)
    return report_of("UPDATE", table, row_of(client, table, row_id), before)


def insert(client: Client, table: str, **columns: Any) -> Row:
    """Put a row in with SQL, as somebody would who knows nothing of derived columns."""
    rough = {
        "account_id": client.account_id,
        "status": "active",
        "created_at": "2026-03-04T05:06:07.000Z",
        "updated_at": "2026-03-04T05:06:07.000Z",
        "search_text": "",
    }
    if table == "projects":
        rough |= {"id": new_id("project"), "name_key": "", "name": "Wald"}
        rough["slug"] = str(rough["id"])[-12:]
    else:
        rough |= {"id": new_id("asset"), "name": "Mast", "type": "equipment"}
    row = rough | columns
    names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
    sql(client, f"INSERT INTO {table} ({names}) VALUES ({marks})", **row)
    return report_of("INSERT", table, row_of(client, table, str(row["id"])), None)


def delete(client: Client, table: str, row_id: str) -> Row:
    """Delete a row with SQL."""
    before = row_of(client, table, row_id)
    sql(client, f"DELETE FROM {table} WHERE id = :id", id=row_id)
    return report_of("DELETE", table, None, before)


def report_of(kind: str, table: str, record: Any, old_record: Any) -> Row:
    """The body that a trigger sends."""
    return {
        "type": kind, "table": table, "schema": "public",
        "record": record, "old_record": old_record,
    }  # fmt: skip


def report(client: Client, body: Any, *, secret: str = SECRET) -> TestResponse:
    """Sign a body, which may be bytes already, and post it."""
    return post_signed(client, WEBHOOK, body, secret)


def boundary(size: float = 0.01, **members: Any) -> str:
    """The text of a boundary as somebody would write it: with spaces."""
    return json.dumps(square(size=size) | members, indent=1)
