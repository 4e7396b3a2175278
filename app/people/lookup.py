"""Looking up people for commands: one by their id or email address, all of them, their sessions."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam, select

from app.auth.memberships import memberships_of
from app.auth.sessions import list_sessions
from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.http.errors import Detail, NotFound
from app.models import User
from app.values.clock import format_value
from app.values.command_name import canopy_command
from app.values.folding import fold_text
from app.values.ids import is_id
from app.values.text import storage_problem

_PEOPLE: Final = select(
    *(api_column(column) for column in (User.id, User.email, User.name)),
    User.password_hash.is_not(None).label("has_password"),
    User.second_factor_since.is_not(None).label("has_second_factor"),
    User.email_verified_at.is_not(None).label("email_verified"),
    api_column(User.created_at),
)
_ALL = CompiledQuery(_PEOPLE.order_by(User.created_at, User.id))
_BY_ID = CompiledQuery(_PEOPLE.where(User.id == bindparam("reference")))
_BY_EMAIL = CompiledQuery(_PEOPLE.where(User.email_key == bindparam("reference")))


def list_people() -> list[dict[str, Any]]:
    """List the records of all people, oldest first."""
    return [_person_record(row) for row in _ALL.all()]


def find_user(reference: str) -> dict[str, Any]:
    """Find the record of a person by their id or email address.

    It has ``id``, ``email``, ``name``, ``has_password``, ``has_second_factor``,
    ``email_verified``, ``created_at`` and ``accounts``: those that the person has joined, each
    with ``id``, ``slug``, ``name`` and the person's ``role`` in it.

    Raises:
        NotFound: there is none.
    """
    row = None
    if is_id("user", reference):
        row = _BY_ID.first(reference=reference)
    elif not storage_problem(reference):
        row = _BY_EMAIL.first(reference=fold_text(reference))
    if row is None:
        message = (
            f"There is no person with the id or email address {reference!r}; "
            f"{canopy_command()} user list shows them all."
        )
        raise NotFound(message, details=[Detail("user", message, "not_found")])
    return _person_record(row)


def open_sessions(user_id: str) -> list[dict[str, Any]]:
    """List the browsers in which a person is signed in, the last used first."""
    return [
        {name: format_value(value) for name, value in row._asdict().items()}
        for row in list_sessions(user_id)
    ]


def _person_record(row: Any) -> dict[str, Any]:
    accounts = [
        {name: getattr(membership, name) for name in ("id", "slug", "name", "role")}
        for membership in memberships_of(row.id)
    ]
    flags = ("has_password", "has_second_factor", "email_verified")
    record = {
        name: bool(value) if name in flags else value for name, value in row._asdict().items()
    }
    return record | {"accounts": accounts}
