"""The permissions, what each includes, and what each role and scope grants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# Permissions that an API key or a service token can have, and what they allow.
PERMISSIONS: Final[dict[str, str]] = {
    "projects:read": "See projects and check geometries",
    "projects:write": "Create, change, archive, restore and delete projects",
    "assets:read": "See the assets of projects",
    "assets:write": "Create, change and delete assets",
    "members:read": "See who belongs to the account",
    "members:write": "Invite and remove members and change their roles",
    "billing:read": "See usage and limits",
    "admin": "Everything, including the account's settings and webhooks",
}

# The permissions of a credential that is limited to some projects. The others are about the account
# as a whole.
OF_PROJECTS: Final = frozenset({"projects:read", "projects:write", "assets:read", "assets:write"})

# A permission includes these too.
INCLUDES: Final[dict[str, frozenset[str]]] = {
    "projects:write": frozenset({"projects:read"}),
    "assets:write": frozenset({"assets:read"}),
    "members:write": frozenset({"members:read"}),
    "admin": frozenset(PERMISSIONS),
}

# Allows GET /account, and the name and email address in GET /me. The only scope that is not a
# permission of a role; other credentials need no permission for these.
PROFILE: Final = "profile"

# Scopes that an OAuth application can request.
SCOPES: Final[dict[str, str]] = {
    PROFILE: "See your name and email address, and the account: its name, plan and usage",
    "projects:read": PERMISSIONS["projects:read"],
    "projects:write": PERMISSIONS["projects:write"],
    "assets:read": PERMISSIONS["assets:read"],
    "assets:write": PERMISSIONS["assets:write"],
    "members:read": PERMISSIONS["members:read"],
    "offline_access": "Keep access while you are away",
}

_VIEWER: Final = frozenset({"projects:read", "assets:read", "members:read"})
_EDITOR: Final = _VIEWER | {"projects:write", "assets:write"}
_ADMIN: Final = _EDITOR | {"members:write", "billing:read", "admin"}

OWNER: Final = "owner"
# Roles, from the fewest permissions to the most; only an owner may change who is an owner.
ROLES: Final[dict[str, frozenset[str]]] = {
    "viewer": _VIEWER,
    "editor": _EDITOR,
    "admin": _ADMIN,
    OWNER: _ADMIN,
}


def expand_permissions(granted: Iterable[str]) -> frozenset[str]:
    """The granted permissions with all that they include."""
    names = frozenset(granted)
    return names.union(*(INCLUDES.get(name, frozenset()) for name in names))


def role_permissions(role: str) -> list[str]:
    """The permissions of a role as a member's record shows them: sorted."""
    return sorted(ROLES[role])
