"""Permissions, roles and scopes (docs/policy.md, "Permissions")."""

from __future__ import annotations

from app.policy.permissions import PERMISSIONS, SCOPES, expand_permissions, role_permissions

PROMISED = [
    *("projects:read", "projects:write", "assets:read", "assets:write"),
    *("members:read", "members:write", "billing:read", "admin"),
]


def test_permissions_are_those_that_clients_know() -> None:
    assert list(PERMISSIONS) == PROMISED


def test_scopes_are_those_that_clients_know() -> None:
    assert set(SCOPES) == {
        *("profile", "projects:read", "projects:write", "assets:read", "assets:write"),
        *("members:read", "offline_access"),
    }


def test_write_includes_read() -> None:
    for name in [name for name in PROMISED if name.endswith(":write")]:
        assert expand_permissions([name]) == {name, name.replace(":write", ":read")}, name


def test_admin_includes_everything() -> None:
    assert expand_permissions(["admin"]) == set(PROMISED)


def test_roles() -> None:
    for role, permissions in (
        ("viewer", "assets:read members:read projects:read"),
        ("editor", "assets:read assets:write members:read projects:read projects:write"),
        (
            "admin",
            "admin assets:read assets:write billing:read members:read members:write "
            "projects:read projects:write",
        ),
        (
            "owner",
            "admin assets:read assets:write billing:read members:read members:write "
            "projects:read projects:write",
        ),
    ):
        assert role_permissions(role) == permissions.split(), role
