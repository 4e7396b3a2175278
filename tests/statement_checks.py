"""What every statement of the tests is checked for, as it is sent.

* A statement on a table that belongs to accounts says which account's rows it means
  (``tests/leaks.py``): whatever goes around the tenant filter fails here, also where no test
  thought of it. What the session writes of itself passes: it writes objects that were read, and
  reading them was checked.
* A GET begins no transaction: on SQLite it would take the lock that writers need.
* An event that is written has the form that ``/v1/event-types`` promises, and nothing besides.

What is found is kept until the test is over. An error raised where it is found would end up in the
answer 500, which a test may take for the one it expects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from flask import has_request_context, request
from jsonschema_rs import Draft202012Validator
from sqlalchemy import Connection, Engine, event

from app.auth.tenant import ALL_ACCOUNTS
from app.db import queries
from app.db.extensions import db
from app.events.catalogue import TYPES, schema_of
from app.models import Event
from app.values.strict_json import loads_own as loads
from tests.leaks import is_of_operators, leaks

_findings: list[str] = []

# The operator of the instance names a key, an application or a webhook by its id alone, and no
# request does (``app.auth.tenant.account_of``).
_OF_THE_OPERATOR: Final = re.compile(
    r"SELECT (credentials|oauth_applications|webhooks)\.account_id\s+FROM \1\s+WHERE \1\.id = \S+"
)
# So does the operator's database, which tells of a row that was changed in it
# (``app.database_webhook``), and ``doctor --repair``.
_OF_THE_DATABASE: Final = re.compile(
    r"SELECT (projects|assets)\.account_id\s+FROM \1\s+WHERE \1\.id = \S+"
    r"( AND projects\.deleted_at IS NULL)?"
)
# Whoever has consented before is sent back with a new code at once (RFC 6749, section 4.1.1).
# Exports and large reads are entered into the audit log. On the way to the provider of single
# sign-on and back, browsers are only redirected.
_WRITES: Final = re.compile(
    r"/oauth/authorize\?|/v1/exports/\w+\?|/v1/account/export\?|/(projects|assets)/export\?"
    r"|/eudr/download\?"
    r"|/ogc/collections/\w+/items\?|/v1/audit-log\?(.*&)?format="
    r"|/login/single-sign-on(/callback)?\?|/profile/sign-ins/link\?"
    r"|/(readyz|api/health)\?"  # they try to store something
)
# A query of the text index ends with the owner's mark (``app.db.search_index.text_values``).
_MARKED: Final = re.compile('"[\ue000-\uf8ff]{3}"$')


def take_findings() -> list[str]:
    """What was found since this was last asked."""
    since, _findings[:] = _findings[:], []
    return since


def install() -> None:
    """Check what is sent from now on, by every application and on all of its engines."""
    event.listen(Engine, "before_cursor_execute", _check_sent)
    _check_compiled()


def _check_compiled() -> None:
    """Those of ``CompiledQuery`` and ``CompiledChange`` go to the driver by themselves."""
    bind = queries.CompiledText.bind

    def checked(statement: queries.CompiledText, values: Mapping[str, Any]) -> dict[str, Any]:
        text = statement.text
        _check_event(text, values)
        if leaks(text) and not _may_be_of_all(text):
            _findings.append(f"goes around the tenant filter: {text}")
        if "phrase" in values and not _MARKED.search(values["phrase"]):
            _findings.append(f"looks through the texts of all: {values['phrase']!r}")
        return bind(statement, values)

    queries.CompiledText.bind = checked


def _may_be_of_all(text: str) -> bool:
    """Whether a statement may go around the tenant filter here: a command's, that of the database,
    or one of a page of operators."""
    is_of_database = _OF_THE_DATABASE.fullmatch(text) is not None
    if not has_request_context():
        is_of_operator = _OF_THE_OPERATOR.fullmatch(text) is not None
        return ALL_ACCOUNTS in text or is_of_operator or is_of_database
    if request.path == "/api/db/webhook":
        return is_of_database
    return request.path.startswith("/operator") and is_of_operators(text)


def _check_sent(_: Connection, _cursor: Any, statement: str, *_more: Any) -> None:
    if not has_request_context():
        return
    by_itself = db.session()._flushing
    if leaks(statement) and not by_itself and request.path != "/metrics":  # of all, by number
        _findings.append(f"goes around the tenant filter: {statement}")
    is_reading = request.method in ("GET", "HEAD") and not _WRITES.match(request.full_path)
    if is_reading and statement.startswith("BEGIN"):
        _findings.append(f"a {request.method} of {request.path} began a transaction")


def _check_event(statement: str, row: Mapping[str, Any]) -> None:
    """Judge what the outbox writes. Events that a test makes up go through the session."""
    if statement.startswith(f"INSERT INTO {Event.__tablename__} "):
        _findings.extend(event_faults(row["body"]))


def event_faults(body: str) -> list[str]:
    """How an event differs from what is promised of its type."""
    found = loads(body.encode())
    if found["type"] not in TYPES:
        return [f"{found['type']} is no type of event"]
    return [
        f"{found['type']} is not as promised: {fault.message} at {fault.instance_path}"
        for fault in _validator(found["type"]).iter_errors(found)
    ]


@cache
def _validator(event_type: str) -> Draft202012Validator:
    return Draft202012Validator(closed(schema_of(event_type)))


def closed(schema: Any) -> Any:
    """A JSON Schema that allows no member that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: closed(part) for name, part in schema.items()}
    return parts | ({"additionalProperties": False} if "properties" in parts else {})
