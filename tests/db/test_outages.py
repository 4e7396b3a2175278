"""A database that is locked or gone: what can be read is read, the rest is 503 with Retry-After."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from flask import Flask

from app.db.extensions import db
from app.db.migrations import make_first_tables, upgrade
from tests.make import Client, make_account, make_key, make_project, second_app

pytestmark = [pytest.mark.both, pytest.mark.provokes(503)]


@pytest.fixture
def impatient(app: Flask) -> Iterator[Flask]:
    """An application that waits a fifth of a second for a lock."""
    with second_app(app, database_timeout_ms=200) as made:
        yield made


@contextmanager
def _locked(app: Flask) -> Iterator[None]:
    """Another program holds the lock that writers need."""
    settings = app.config["SETTINGS"]
    if settings.uses_sqlite:
        path = settings.database_url.removeprefix("sqlite:///")
        connection: Any = sqlite3.connect(path, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
    else:
        connection = psycopg.connect(settings.database_url.replace("+psycopg", ""))
        connection.execute("LOCK TABLE projects, account_usage, credentials IN EXCLUSIVE MODE")
    try:
        yield
    finally:
        connection.rollback()
        connection.close()


def test_reading_goes_on_while_the_database_is_locked(impatient: Flask) -> None:
    """Also by a new key: its last_used_at cannot be written then; the next request does."""
    client = make_account(impatient)
    project = make_project(client)
    fresh = make_key(client)
    with _locked(impatient):
        paths = ("/v1/projects", f"/v1/projects/{project['id']}", "/v1/account", "/api/health")
        for path in paths:
            assert client.get(path).status_code == 200
        assert fresh.get("/v1/account").status_code == 200


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "while it is locked"}])
def test_writing_is_503_while_the_database_is_locked(impatient: Flask, key: dict[str, str]) -> None:
    client = make_account(impatient)
    client.get("/v1/account")
    with _locked(impatient):
        response = client.post("/v1/projects", json={"name": "A"}, headers=key)
        assert response.status_code == 503
        assert response.json["error"]["code"] == "SERVICE_UNAVAILABLE"
        assert int(response.headers["Retry-After"]) >= 1
    again = client.post("/v1/projects", json={"name": "A"}, headers=key)
    assert again.status_code == 201
    assert "Idempotency-Replayed" not in again.headers


@pytest.fixture
def cut_off(app: Flask, tmp_path: Any) -> Iterator[Client]:
    """A caller of an application whose database cannot be reached."""
    url = "postgresql+psycopg://canopy@127.0.0.1:9/canopy"
    if app.config["SETTINGS"].uses_sqlite:
        url = f"sqlite:///{tmp_path}/absent/canopy.sqlite3"
    client = make_account(app)
    with second_app(app, database_url=url, database_timeout_ms=200) as made:
        yield Client(made, client.account_id, client.owner_id, client.token)


def test_without_a_database_nobody_is_let_in(cut_off: Client) -> None:
    for method, path in (
        ("GET", "/v1/projects"),
        ("POST", "/v1/projects"),
        ("GET", "/v1/auth/verify"),
    ):
        body = {"name": "A"} if method == "POST" else None
        response = cut_off.send(method, path, json=body)
        assert response.status_code == 503
        assert response.json["error"]["code"] == "SERVICE_UNAVAILABLE"
        assert int(response.headers["Retry-After"]) >= 1
    headers = {"Authorization": "Bearer junk"}
    assert cut_off.get("/v1/projects", headers=headers).status_code == 401


def test_without_a_database_health_says_so(cut_off: Client) -> None:
    for path in ("/v1/openapi.json", "/ogc/conformance"):
        assert cut_off.get(path).status_code == 200
    response = cut_off.nobody().get("/api/health")
    assert response.status_code == 503
    assert response.json["status"] == "unavailable"
    assert response.json["checks"]["database"] == "unavailable"
    assert cut_off.nobody().get("/readyz").status_code == 503
    assert cut_off.nobody().get("/healthz").status_code == 200
    token = {"Authorization": "Bearer the-metrics-token"}
    metrics = cut_off.nobody().get("/metrics", headers=token)
    assert "\ncanopy_database_up 0.0\n" in metrics.get_data(as_text=True)


def test_a_start_without_a_database_is_logged(
    cut_off: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """With PostgreSQL, a start makes no tables, and so does not notice."""
    make_first_tables(cut_off.app)
    is_logged = "database unavailable: unable to open database file" in caplog.text
    assert is_logged == cut_off.app.config["SETTINGS"].uses_sqlite


@pytest.mark.slow
def test_a_database_that_comes_back_is_used_again(postgres: Any, app: Flask) -> None:
    """The server closes all connections, as at a restart: the next request opens its own."""
    if app.config["SETTINGS"].uses_sqlite:
        pytest.skip("SQLite has no server")
    url = f"{app.config['SETTINGS'].database_url}&application_name=back_again"
    with second_app(app, database_url=url) as made:
        client = make_account(made)
        assert client.get("/v1/projects").status_code == 200
        with psycopg.connect(postgres.url, autocommit=True) as operator:
            ended = operator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'back_again'"
            ).fetchall()
        assert ended
        assert client.get("/v1/projects").status_code == 200
        answers = [
            client.post("/v1/projects", json={"name": f"A{n}"}).status_code for n in range(3)
        ]
    assert set(answers) <= {201, 503}
    assert answers[-1] == 201


def test_foreign_keys_are_held_after_a_migration(app: Flask, tmp_path: Any) -> None:
    """Revisions switch them off on SQLite, where a rebuilt table would take its children along."""
    if not app.config["SETTINGS"].uses_sqlite:
        pytest.skip("of SQLite only")
    url = f"sqlite:///{tmp_path}/new.sqlite3"
    with second_app(app, database_url=url) as made, made.app_context():
        upgrade()
        with db.engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1
