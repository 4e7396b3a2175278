"""What every statement of the tests is checked for, as it is sent.

* A statement on a table that belongs to accounts says which account's rows it means
  (``tests/leaks.py``): whatever goes around the tenant filter fails here, also where no test
  thought of it. What the session writes of itself passes: it writes objects that were read, and
  reading them was checked.
* A GET begins no transaction: on SQLite it would take the lock that writers need.

What is found is kept until the test is over. An error raised where it is found would end up in the
answer 500, which a test may take for the one it expects.
"""

from __future__ import annotations

import re
from typing import Any, Final

from flask import has_request_context, request
from sqlalchemy import Connection, Engine, event

from app.core import reading
from app.extensions import db
from tests.leaks import leaks

_found: list[str] = []

# The operator of the instance names a key or an application by its id alone, and no request does
# (``app.auth.tenant.account_of``).
_OF_THE_OPERATOR: Final = re.compile(
    r"SELECT (credentials|oauth_applications)\.account_id\s+FROM \1\s+WHERE \1\.id = \S+"
)
# So does the operator's database, which tells of a row that was changed in it
# (``app.row_changes``).
_OF_THE_DATABASE: Final = re.compile(
    r"SELECT (projects|assets)\.account_id\s+FROM \1\s+WHERE \1\.id = \S+"
    r"|SELECT events\.account_id\s+FROM events\s+WHERE events\.subject_id = \S+"
    r" ORDER BY events\.id DESC\s+LIMIT \S+(?: OFFSET \S+)?"
)
# Whoever has consented before is sent back with a new code at once (RFC 6749, section 4.1.1).
_WRITES: Final = "/oauth/authorize"
# What an index of texts is asked for ends with the owner's mark (``app.core.finding.text_values``).
_MARKED: Final = re.compile('"[\ue000-\uf8ff]{3}"$')


def found() -> list[str]:
    """What was found since this was last asked."""
    since, _found[:] = _found[:], []
    return since


def begin() -> None:
    """Watch what is sent from now on, by every application and on all of its engines."""
    event.listen(Engine, "before_cursor_execute", _check_sent)
    _watch_readings()


def _watch_readings() -> None:
    """Those of ``app.core.reading.Prepared`` go to the driver by themselves."""
    bind = reading._Compiled.bind

    def checked(statement: reading._Compiled, values: dict[str, Any]) -> dict[str, Any]:
        text = statement.text
        if has_request_context():
            operator = request.path == "/api/db/webhook" and _OF_THE_DATABASE.fullmatch(text)
        else:
            operator = _OF_THE_OPERATOR.fullmatch(text)
        if leaks(text) and not operator:
            _found.append(f"goes around the tenant filter: {text}")
        if "phrase" in values and not _MARKED.search(values["phrase"]):
            _found.append(f"looks through the texts of all: {values['phrase']!r}")
        return bind(statement, values)

    reading._Compiled.bind = checked


def _check_sent(_: Connection, _cursor: Any, statement: str, *_more: Any) -> None:
    if not has_request_context():
        return
    by_itself = db.session()._flushing
    if leaks(statement) and not by_itself:
        _found.append(f"goes around the tenant filter: {statement}")
    is_reading = request.method in ("GET", "HEAD") and request.path != _WRITES
    if is_reading and statement.startswith("BEGIN"):
        _found.append(f"a {request.method} of {request.path} began a transaction")
