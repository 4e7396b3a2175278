"""Queries about linked sign-ins, for the commands of whoever operates the instance."""

from __future__ import annotations

from typing import Any

from app.people.single_sign_on.identities import list_identities
from app.values.clock import format_time


def linked_sign_ins(user_id: str) -> list[dict[str, Any]]:
    """The sign-ins that are linked to a person, the oldest first."""
    return [
        {
            "id": row.id,
            "issuer": row.issuer,
            "email": row.email,
            "created_at": format_time(row.created_at),
            "last_used_at": format_time(row.last_used_at),
        }
        for row in list_identities(user_id)
    ]
