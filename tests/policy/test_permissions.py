"""Permissions, roles and scopes (docs/policy.md, "Permissions")."""

from __future__ import annotations

import pytest

from app.policy.permissions import PERMISSIONS, ROLES, SCOPES, expand, role_permissions

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


@pytest.mark.parametrize("name", [name for name in PROMISED if name.endswith(":write")])
def test_write_includes_read(name: str) -> None:
    assert expand([name]) == {name, name.replace(":write", ":read")}


@pytest.mark.parametrize("name", [name for name in PROMISED if name.endswith(":read")])
def test_read_includes_nothing_else(name: str) -> None:
    assert expand([name]) == {name}


def test_admin_includes_everything() -> None:
    assert expand(["admin"]) == set(PROMISED)


def test_nothing_includes_nothing() -> None:
    assert expand([]) == frozenset()


@pytest.mark.parametrize(
    ("role", "permissions"),
    [
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
    ],
)
def test_roles(role: str, permissions: str) -> None:
    assert role_permissions(role) == permissions.split()


def test_there_are_four_roles() -> None:
    assert list(ROLES) == ["viewer", "editor", "admin", "owner"]
