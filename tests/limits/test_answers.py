"""Which answers of /v1 show a limit, what comes before it, and that a refused request does
nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Flask

from app.db.extensions import db
from tests.limits.plans import shown, use_up
from tests.make import make_account, make_key, put_on, requests_today, second_app


def test_every_answer_shows_its_limit_and_counts(app: Flask, plans_file: Path) -> None:
    answers: tuple[tuple[str, str, dict[str, Any], int], ...] = (
        ("GET", "/v1/account", {"headers": {"If-None-Match": "*"}}, 304),
        ("GET", "/v1/projects?page=0", {}, 400),
        ("GET", "/v1/projects/x", {}, 404),
        ("GET", "/v1/nothing", {}, 404),
        ("DELETE", "/v1/account", {}, 405),
        ("POST", "/v1/projects", {"json": {"name": 5}}, 422),
        ("POST", "/v1/projects", {"data": b"x", "content_type": "text/plain"}, 415),
        ("POST", "/v1/projects", {"data": b"x" * 2000, "content_type": "application/json"}, 413),
        ("GET", "/v1/openapi.json", {}, 200),
        ("HEAD", "/v1/projects", {}, 200),
    )
    with second_app(app, plans_file=plans_file, max_body_bytes=1024) as made:
        for method, path, options, status in answers:
            client = make_account(made, plan="few")
            response = client.send(method, path, **options)
            assert (response.status_code, shown(response)) == (status, (3, 2)), (method, path)
            assert requests_today(client) == 1


def test_a_refusal_for_lack_of_permission_shows_its_limit(limited: Flask) -> None:
    client = make_key(make_account(limited, plan="few"), permissions=["members:read"])
    response = client.get("/v1/projects")
    assert (response.status_code, shown(response)) == (403, (3, 2))


def test_what_comes_before_the_limit_and_what_after(limited: Flask) -> None:
    client = make_account(limited, plan="few")
    use_up(client, 3)
    answers: tuple[tuple[str, str, dict[str, Any], int], ...] = (
        ("GET", "/v1/nothing", {}, 404),
        ("DELETE", "/v1/account", {}, 405),
        ("POST", "/v1/projects", {"data": b"x", "content_type": "text/plain"}, 415),
        ("GET", "/v1/projects/x", {}, 429),
        ("GET", "/v1/projects?page=0", {}, 429),
        ("POST", "/v1/projects", {"json": {}}, 429),
    )
    for method, path, options, status in answers:
        response = client.send(method, path, **options)
        assert (response.status_code, shown(response)) == (status, (3, 0)), (method, path)


def test_the_limit_comes_before_the_permission(limited: Flask) -> None:
    client = make_account(limited, plan="few")
    use_up(client, 3)
    assert make_key(client, permissions=["members:read"]).get("/v1/projects").status_code == 429


def test_a_refused_request_does_nothing(limited: Flask, app: Flask) -> None:
    client = make_account(limited, plan="few")
    fresh = make_key(client)
    use_up(client, 3)
    keyed = {"Idempotency-Key": "once"}
    assert fresh.post("/v1/projects", {"name": "A"}, headers=keyed).status_code == 429
    put_on(client, "hundred")
    assert fresh.get("/v1/projects").json["meta"]["total"] == 0
    usage = client.get("/v1/account/usage").json["data"]
    assert usage["api_requests"]["current"] == 5
    first = fresh.post("/v1/projects", {"name": "A"}, headers=keyed)
    assert (first.status_code, "Idempotency-Replayed" in first.headers) == (201, False)


def test_a_refused_request_does_not_note_the_use_of_its_key(limited: Flask) -> None:
    client = make_account(limited, plan="few")
    fresh = make_key(client)
    use_up(client, 3)
    assert fresh.get("/v1/account").status_code == 429
    with limited.app_context():
        statement = db.text("SELECT last_used_at FROM credentials WHERE id = :id")
        assert db.session.execute(statement, {"id": fresh.credential_id}).scalar_one() is None
