"""Validation for forms, which must not reveal who or what exists."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from app.db import queries
from app.db.extensions import db
from app.models import Account, Project, User
from app.policy.request_limits import RESERVED_SLUGS
from tests.make import Client, make_project

EMAIL_ROUTES = ["/api/auth/check-email", "/api/onboarding/validate-email"]
SLUG_ROUTES = ["/api/onboarding/validate-slug", "/api/projects/validate-slug"]


def _owner(client: Client) -> str:
    with client.app.app_context():
        return db.session.get_one(User, client.owner_id).email


def _bytes(app: Flask, path: str, body: Any) -> tuple[int, bytes, list[tuple[str, str]]]:
    """Status, body and headers, without those that differ per request."""
    response = app.test_client().post(path, json=body, headers={"X-Request-Id": "the-same-id"})
    headers = [item for item in response.headers if item[0] != "X-RateLimit-Reset"]
    return response.status_code, response.get_data(), headers


def test_known_and_unknown_addresses_get_the_same_response(client: Client) -> None:
    for path in EMAIL_ROUTES:
        known = _bytes(client.app, path, {"email": _owner(client)})
        unknown = _bytes(client.app, path, {"email": "nobody-has-this@example.org"})
        assert known == unknown
        assert known[:2] == (200, b'{"data":{"valid":true},"meta":{"request_id":"the-same-id"}}')


@pytest.mark.parametrize("path", SLUG_ROUTES)
def test_known_and_unknown_slugs_get_the_same_response(client: Client, path: str) -> None:
    make_project(client, name="Taken Forest")
    with client.app.app_context():
        account = db.session.get_one(Account, client.account_id).slug
        assert db.session.query(Project).filter_by(slug="taken-forest").count()
    for known in (account, "taken-forest"):
        free = re.sub("[a-z]", "q", known)
        responses = [_bytes(client.app, path, {"slug": slug}) for slug in (known, free)]
        assert responses[0][0] == responses[1][0] == 200
        assert responses[0][1].replace(known.encode(), free.encode()) == responses[1][1]
        assert responses[0][2] == responses[1][2]


def test_nothing_is_looked_up(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the duration reveals nothing either."""

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("the database was queried")

    monkeypatch.setattr(queries, "_execute_statement", fail)
    monkeypatch.setattr(db.session, "connection", fail)
    monkeypatch.setattr(db.session, "execute", fail)
    for path in (*EMAIL_ROUTES, *SLUG_ROUTES):
        body = {"email": "jo@example.org"} if path in EMAIL_ROUTES else {"slug": "green-woods"}
        assert app.test_client().post(path, json=body).status_code == 200


def test_malformed_addresses_are_rejected(app: Flask) -> None:
    for path in EMAIL_ROUTES:
        for email in (
            "", "jo", "jo@", "@example.org", "a b@example.org", "jo\0@example.org",
            "jo@example.org\nBcc: x@example.org", "\ud800@example.org", f"{'a' * 250}@example.org",
        ):  # fmt: skip
            response = app.test_client().post(path, json={"email": email})
            assert response.status_code in (400, 422)
            fields = {detail["field"] for detail in response.json["error"]["details"]}
            assert fields <= {"email", "body"}


def test_malformed_bodies_are_rejected(app: Flask) -> None:
    for path in [*EMAIL_ROUTES, *SLUG_ROUTES]:
        for body, status in [
            (b"", 422),
            (b"{", 400),
            (b"[]", 422),
            (b"{}", 422),
            (b'{"email": 5, "slug": 5}', 422),
            (b'{"email": null, "slug": null}', 422),
            (b'{"email": "jo@example.org", "slug": "a", "more": 1}', 422),
        ]:
            response = app.test_client().post(path, data=body, content_type="application/json")
            assert response.status_code == status
            assert response.json["error"]["code"] == "VALIDATION_ERROR"


def test_query_parameters_are_rejected(app: Flask) -> None:
    body = {"email": "jo@example.org"}
    assert app.test_client().post(f"{EMAIL_ROUTES[0]}?x=1", json=body).status_code == 400


def test_slugs(app: Flask) -> None:
    for path in SLUG_ROUTES:
        for given, valid, slug in [
            ("green-woods", True, "green-woods"),
            ("  green-woods ", True, "green-woods"),
            ("a", True, "a"),
            ("7", True, "7"),
            ("Green Woods", False, "green-woods"),
            ("green--woods", False, "green-woods"),
            ("-green", False, "green"),
            ("Wälder", False, "walder"),
            ("森", False, "sen"),
            ("---", False, ""),
            ("a" * 63, True, "a" * 63),
            ("a" * 64, False, "a" * 63),
            ("ADMIN", False, "admin-2"),
        ]:
            response = app.test_client().post(path, json={"slug": given})
            assert (response.status_code, response.json["data"]) == (
                200,
                {"valid": valid, "slug": slug},
            )


def test_reserved_words_are_not_valid_slugs(app: Flask) -> None:
    assert len(RESERVED_SLUGS) == 20
    for word in sorted(RESERVED_SLUGS):
        data = app.test_client().post(SLUG_ROUTES[0], json={"slug": word}).json["data"]
        assert data == {"valid": False, "slug": f"{word}-2"}


def test_other_methods_are_rejected(app: Flask) -> None:
    for path in [*EMAIL_ROUTES, *SLUG_ROUTES]:
        response = app.test_client().get(path)
        assert (response.status_code, response.headers["Allow"]) == (405, "POST")
