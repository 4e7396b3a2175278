"""What every statement of the tests is checked for, as it is sent.

* A statement on a table that belongs to accounts names ``account_id``: whatever goes around the
  tenant filter fails here, also where no test thought of it. What the session writes of itself
  passes: it writes objects that were read, and reading them was checked.
* A GET begins no transaction: on SQLite it would take the lock that writers need.
"""

from __future__ import annotations

import re
from typing import Any

from flask import Flask, has_request_context, request
from sqlalchemy import event

from app.core import reading
from app.core.tables import metadata
from app.extensions import db

TENANT_TABLES = sorted(
    table.name
    for table in metadata.tables.values()
    if "account_id" in table.columns and table.name not in ("credentials",)
)
_NAMED = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO)\s+({'|'.join(TENANT_TABLES)})\b")


def leaks(statement: str) -> bool:
    """Whether a statement reads or changes rows of accounts without saying which account's."""
    body = re.sub(r"^SELECT.*?\bFROM\b", "FROM", statement, flags=re.DOTALL)
    return bool(_NAMED.search(statement)) and "account_id" not in body


def statements(app: Flask) -> None:
    """Watch the statements that requests send to the application's database."""

    def check(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if has_request_context():
            by_itself = db.session()._flushing
            assert by_itself or not leaks(statement), f"goes around the filter: {statement}"
            reading = request.method in ("GET", "HEAD")
            assert not (reading and "BEGIN" in statement), "a GET began a transaction"

    with app.app_context():
        event.listen(db.engine, "before_cursor_execute", check)


def readings(monkeypatch: Any) -> None:
    """Watch the statements of ``app.core.reading``, which go to the driver by themselves."""
    fetch = reading._fetch

    def checked(source: Any, text: str, values: dict[str, Any]) -> Any:
        assert not leaks(text), f"goes around the tenant filter: {text}"
        return fetch(source, text, values)

    monkeypatch.setattr(reading, "_fetch", checked)
