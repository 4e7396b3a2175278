"""Every operation of /v1 says which permission it needs, or is listed as public."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flask import Flask

from app.auth.guard import ANY_CREDENTIAL, PROFILE
from app.policy.permissions import PERMISSIONS

PUBLIC = {"docs.openapi": "the description of the API is for everybody"}


def undeclared(app: Flask) -> Iterator[str]:
    """Endpoints of /v1 whose view names no permission of the policy."""
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/v1") and rule.endpoint not in PUBLIC:
            needs = _permission(app.view_functions[rule.endpoint], rule.methods or set())
            if needs not in (ANY_CREDENTIAL, PROFILE, *PERMISSIONS):
                yield rule.endpoint


def _permission(view: Any, methods: set[str]) -> str | None:
    return getattr(view, "permission", None)


def test_every_operation_declares_its_permission(app: Flask) -> None:
    assert list(undeclared(app)) == []


def test_public_routes_exist(app: Flask) -> None:
    assert set(PUBLIC) <= set(app.view_functions)


def test_a_view_without_a_permission_is_seen() -> None:
    fake = Flask("fake")
    fake.add_url_rule("/v1/bees", "bees", lambda: "")
    assert list(undeclared(fake)) == ["bees"]


def test_a_permission_that_the_policy_does_not_have_is_seen() -> None:
    def view() -> str:
        return ""

    view.permission = "bees:read"  # type: ignore[attr-defined]
    fake = Flask("fake")
    fake.add_url_rule("/v1/bees", "bees", view)
    assert list(undeclared(fake)) == ["bees"]
