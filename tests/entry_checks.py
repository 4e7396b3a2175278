"""What every entry of the audit log that the tests cause is checked for, as it is written.

* A request writes one entry at most into each log; that it writes one where it must is what
  ``app.audit.guard`` sees to. Exceptions are listed.
* The pages of the log can read it.
* No entry has a secret: none of the tokens and passwords that were made or sent while the tests
  ran, and nothing that looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from flask import Flask, g, has_request_context, request, request_finished

from app.audit.log.bodies import read_body
from app.db.queries import CompiledText
from app.models import AuditEntry
from app.security import tokens
from app.security.passwords import Passwords

_findings: list[str] = []
_passwords: set[str] = set()

# Rules of requests that do several things at once.
_SEVERAL: Final = {
    "/eudr/fill": "an entry for each of the plots",
    "/projects/archive": "an entry for each of the selected projects",
    "/projects/restore": "likewise",
    "/v1/imports": "an entry for the import that gives way to a new one",
    "/imports/new": "likewise",
    "/applications/<app_id>": "an entry for each consent that a smaller scope ends",
    "/login/single-sign-on/new": "creates a person and their account, links a sign-in, signs in",
    "/login/single-sign-on/link": "links a sign-in, and signs in",
    "/login/single-sign-on/link/<token>": "likewise",
}
# A recovery code is used up beside what it confirms, whatever that is.
_BESIDE: Final = "person.recovery_code_used"
_SECRET: Final = re.compile(
    rf"({'|'.join(tokens.PREFIXES)})\w{{8}}"
    r"|whsec_\w{8}|\$argon2|gAAAAA"  # of webhooks, hashed passwords, what is sealed
)
_SHORTEST: Final = 10  # characters of a password


def take_findings() -> list[str]:
    """What was found since this was last asked."""
    since, _findings[:] = _findings[:], []
    return since


def install() -> None:
    """Check what is written from now on, by every application."""
    bind = CompiledText.bind

    def bind_and_check(statement: CompiledText, row: Mapping[str, Any]) -> dict[str, Any]:
        if statement.text.startswith(f"INSERT INTO {AuditEntry.__tablename__} "):
            _check_entry(row)
        return bind(statement, row)

    CompiledText.bind = bind_and_check
    request_finished.connect(_check_number)
    hash_one = Passwords.hash

    def hash_and_note(self: Passwords, password: str) -> str:
        _passwords.add(password)
        return hash_one(self, password)

    Passwords.hash = hash_and_note  # type: ignore[method-assign]


def _check_entry(row: Mapping[str, Any]) -> None:
    body = row["body"]
    if read_body(body.encode()) is None:
        _findings.append(f"an entry cannot be read: {body}")
    if found := _SECRET.search(body):
        _findings.append(f"an entry has a secret, {found[0]}: {body}")
    for password in _passwords:
        if len(password) >= _SHORTEST and f'"{password}"' in body:
            _findings.append(f"an entry has a password: {body}")
    if has_request_context():
        entry = (row["account_id"], row["action"])
        g.entries_of_request = [*g.get("entries_of_request", ()), entry]


def _check_number(_: Flask, **__: Any) -> None:
    written = [each for each in g.pop("entries_of_request", []) if each[1] != _BESIDE]
    rule = request.url_rule.rule if request.url_rule else ""
    logs = [log for log, _ in written]
    if len(logs) > len(set(logs)) and rule not in _SEVERAL:
        _findings.append(f"{request.method} {rule} has {len(written)} entries: {written}")
