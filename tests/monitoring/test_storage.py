"""Health while the database can store nothing."""

from __future__ import annotations

import os
import resource
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.db.extensions import db
from app.db.queries import reading_connection
from app.models import Mail
from app.monitoring import storage
from app.monitoring.storage import StorageTries
from tests.make import Client, make_account, second_app
from tests.make.apps import bare_app


@pytest.fixture(autouse=True)
def _without_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "TRY_EVERY", 0.0)


@contextmanager
def _largest_file(size: int) -> Iterator[None]:
    """Let this process make no file larger than ``size`` bytes, so that SQLite finds no room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _states(client: Client) -> tuple[Any, ...]:
    """What is told: (/api/health, /readyz), each as status, word and that of storage."""
    answers = (client.nobody().get(path) for path in ("/api/health", "/readyz"))
    return tuple(
        (each.status_code, each.json["status"], each.json["checks"]["storage"]) for each in answers
    )


FAILED = (503, "unavailable", "failed"), (200, "degraded", "failed")


@pytest.mark.provokes(503)
def test_a_full_disk(tmp_path: Path) -> None:
    with bare_app(tmp_path) as app:
        client = make_account(app)
        body = {"name": "A", "description": "x" * 8000}
        assert client.post("/v1/projects", json=body).status_code == 201
        assert [state[2] for state in _states(client)] == ["ok", "ok"]
        size = (tmp_path / "canopy.sqlite3-wal").stat().st_size
        with _largest_file(size):
            for number in range(100):
                refused = client.post("/v1/projects", json=body | {"name": f"B{number}"})
                if refused.status_code != 201:
                    break
            assert refused.status_code == 503
            assert "storage of the service is full" in refused.json["error"]["message"]
            assert _states(client) == FAILED
            assert client.get("/v1/projects").status_code == 200
        assert [state[2] for state in _states(client)] == ["ok", "ok"]
        assert client.post("/v1/projects", json=body | {"name": "C"}).status_code == 201


@pytest.mark.provokes(503)
def test_a_full_disk_stays_full_while_the_log_of_sqlite_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bare_app(tmp_path) as app:
        client = make_account(app)
        assert [state[2] for state in _states(client)] == ["ok", "ok"]
        monkeypatch.setitem(storage._BYTES, "sqlite", 2**60)  # more than any disk has
        assert _states(client) == FAILED
        assert client.post("/v1/projects", json={"name": "A"}).status_code == 201


@pytest.mark.both
@pytest.mark.provokes(503)
def test_a_database_that_is_read_only(app: Flask, tmp_path: Path) -> None:
    client = make_account(app)
    assert [state[2] for state in _states(client)] == ["ok", "ok"]
    url = app.config["SETTINGS"].database_url
    if app.config["SETTINGS"].uses_sqlite:
        url = f"sqlite:///file:{url.removeprefix('sqlite:///')}?mode=ro&uri=true"
    else:
        url += f"{'&' if '?' in url else '?'}options=-cdefault_transaction_read_only%3Don"
    with second_app(app, database_url=url) as made:
        reader = Client(made, client.account_id, client.owner_id, client.token)
        assert _states(reader) == FAILED
        assert reader.get("/v1/projects").status_code == 200
        refused = reader.post("/v1/projects", json={"name": "A"})
        assert refused.status_code == 503
        assert "full or read-only" in refused.json["error"]["message"]


@pytest.mark.both
def test_nothing_is_left_of_a_try(app: Flask) -> None:
    with app.app_context():
        assert storage.storage_state() == "ok"
        tries = db.select(db.func.count()).where(Mail.id.startswith("storage"))
        with reading_connection() as connection:
            assert connection.scalar(tries) == 0


def test_while_others_write_the_last_result_stands(tmp_path: Path) -> None:
    with bare_app(tmp_path) as app, app.app_context():
        with db.session.begin():
            db.session.connection()  # holds the lock
            assert storage.storage_state() == "unknown"
            assert _readyz(app) == (200, "unknown")
        assert storage.storage_state() == "ok"
        with db.session.begin():
            db.session.connection()
            assert storage.storage_state() == "ok"


def _readyz(app: Flask) -> tuple[int, str]:
    answer = app.test_client().get("/readyz")
    return answer.status_code, answer.json["checks"]["storage"]


def test_processes_share_a_try_every_five_seconds(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    real = storage._try_write
    monkeypatch.setattr(storage, "_try_write", lambda: tried.append("") or real())
    monkeypatch.setattr(storage, "TRY_EVERY", 3600.0)
    tries = StorageTries()
    with app.app_context():
        with warnings.catch_warnings(action="ignore"):  # that threads are not taken along
            child = os.fork()
        if child == 0:
            os._exit(tries.read() == "ok")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        assert [tries.read() for _ in range(3)] == ["ok"] * 3
    assert tried == []
