"""The record of a member, as the API returns it."""

from __future__ import annotations

from typing import Any, Final

from app.http.errors import NotFound
from app.models import Membership, User
from app.policy.permissions import role_permissions
from app.policy.request_limits import NAME_LENGTH
from app.values.clock import format_optional_time

COLUMNS: Final = (
    User.id,
    User.email,
    User.name,
    Membership.role,
    Membership.joined_at,
    Membership.last_active_at,
)


def row_record(row: tuple[Any, ...]) -> dict[str, Any]:
    """The fields of a member from a row of ``COLUMNS``.

    Until somebody joins, the account does not see the name they chose, only one derived from the
    address it invited.
    """
    id_, email, name, role, joined_at, last_active_at = row
    return {
        "id": id_,
        "email": email,
        "name": name_from_email(email) if joined_at is None else name,
        "role": role,
        "permissions": role_permissions(role),
        "joined_at": joined_at,
        "last_active_at": last_active_at,
    }


def member_record(membership: Membership, person: User) -> dict[str, Any]:
    """The fields of a member from objects."""
    return row_record(
        (
            person.id,
            person.email,
            person.name,
            membership.role,
            format_optional_time(membership.joined_at),
            format_optional_time(membership.last_active_at),
        )
    )


def name_from_email(email: str) -> str:
    """The part of an address before the @, used while a name is unknown."""
    return email.partition("@")[0][:NAME_LENGTH]


def not_found() -> NotFound:
    """The error for an id that is not one of the account's members."""
    return NotFound("This member does not exist.")
