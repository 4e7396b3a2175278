"""A first request with a new key or token, as a line for a terminal."""

from __future__ import annotations

from collections.abc import Collection

from app.http.urls import absolute_url


def first_command(secret: str, permissions: Collection[str]) -> str:
    """Return a command that these permissions allow."""
    path = "/v1/auth/verify"
    if any(name.startswith("projects:") or name == "admin" for name in permissions):
        path = "/v1/projects?fields=name,area_hectares"
    elif any(name.startswith("assets:") for name in permissions):
        path = "/v1/assets?fields=name,type"
    return f"curl -H 'Authorization: Bearer {secret}' '{absolute_url(path)}'"
