"""A member as it is shown."""

from __future__ import annotations

from typing import Any, Final

from app.http.errors import NotFound
from app.models import Membership, User
from app.policy.bounds import NAME_LENGTH
from app.policy.permissions import role_permissions
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

    What people call themselves is theirs to tell: until they join, the account sees what it knows
    already, the address.
    """
    id_, email, name, role, joined_at, last_active_at = row
    return {
        "id": id_,
        "email": email,
        "name": name_in(email) if joined_at is None else name,
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


def name_in(email: str) -> str:
    """What stands for a name that is not known: the part of the address before the @."""
    return email.partition("@")[0][:NAME_LENGTH]


def not_found() -> NotFound:
    """The refusal of an id by which the account has no member."""
    return NotFound("There is no such member.")
