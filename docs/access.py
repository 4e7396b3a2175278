"""Which role opens which operation, with which credential: for a table, and for the test of it."""

from __future__ import annotations

from typing import Final

from app.auth.guard import ANY_CREDENTIAL, OR
from app.policy.permissions import PROFILE, ROLES, SCOPES, expand_permissions

CHAT: Final = "/api/chat"  # the one operation that takes a session of a browser too

# The credentials of a person with a role, each with the most that it can be given.
KINDS: Final[dict[str, str]] = {
    "key": "an API key that they made",
    "token": "a service token that they made",
    "OAuth": "an application that acts for them, with every scope",
    "page": "their browser, in which they are signed in",
}


def held(role: str, kind: str) -> frozenset[str]:
    """What such a credential may do: permissions, and the scope that is none."""
    own = ROLES[role]
    return (expand_permissions(SCOPES) & own) | {PROFILE} if kind == "OAuth" else own


def opens(path: str, needs: str, role: str, kind: str) -> bool:
    """Whether an operation lets such a credential in.

    Args:
        needs: what it is declared to need (``app.api.blueprint.ApiBlueprint.operation``).
    """
    if kind == "page" and path != CHAT:
        return False
    if needs == ANY_CREDENTIAL or (needs == PROFILE and kind != "OAuth"):
        return True
    return not held(role, kind).isdisjoint(needs.split(OR))


def cell(path: str, needs: str, role: str) -> list[str]:
    """The kinds of credential with which a role opens an operation."""
    return [kind for kind in KINDS if opens(path, needs, role, kind)]
