"""The clock follows the database's, so that hosts whose clocks differ agree."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import psycopg
import pytest
from flask import Flask

from app.db import connections
from app.postgresql.connection import _follow_clock
from app.values import clock
from tests.make import Client

HOUR = 3600.0


@pytest.fixture(autouse=True)
def _unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock._DatabaseClock, "offset", None)
    monkeypatch.setattr(clock._DatabaseClock, "read_at", -1e9)


def ahead() -> float:
    """Seconds by which the clock is ahead of this machine's."""
    return clock.now().timestamp() - time.time()


def test_at_first_it_is_the_clock_of_this_machine() -> None:
    assert abs(ahead()) < 0.1


def test_it_goes_by_the_databases_clock() -> None:
    clock.follow(time.time() + HOUR)
    assert abs(ahead() - HOUR) < 0.1
    assert clock.read_ago() < 0.1


def test_what_the_answer_took_does_not_move_it() -> None:
    clock.follow(time.time() + HOUR)
    before = clock.now()
    clock.follow(time.time() + HOUR - 0.04)
    assert clock.now() >= before


def test_it_goes_on_when_the_clock_of_this_machine_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    clock.follow(time.time())
    before, elsewhere = clock.now(), Mock(wraps=datetime)
    elsewhere.now.return_value = datetime.now(UTC) - timedelta(days=1)
    monkeypatch.setattr(clock, "datetime", elsewhere)
    assert timedelta(0) <= clock.now() - before < timedelta(seconds=1)


def test_a_request_reads_it(client: Client, app: Flask) -> None:
    clock.follow(time.time() + HOUR)
    clock._DatabaseClock.read_at -= 11  # seconds ago
    assert client.get("/v1/projects").status_code == 200
    if app.config["SETTINGS"].uses_sqlite:
        assert abs(ahead() - HOUR) < 0.1, "SQLite has no clock of its own"
    else:
        assert abs(ahead()) < 0.5


def test_a_forked_process_reads_it_again(app: Flask) -> None:
    clock.follow(time.time() + HOUR)
    with app.app_context():
        connections.close_all()
        connections.read_clock()
    is_followed = not app.config["SETTINGS"].uses_sqlite
    assert abs(ahead() - (0 if is_followed else HOUR)) < 0.5


def test_an_answer_that_took_long_does_not_set_it() -> None:
    clock.follow(time.time() + HOUR)
    clock.follow(time.time(), took=2)
    assert abs(ahead() - HOUR) < 0.1


def test_no_other_function_stands_in_for_the_databases_clock(app: Flask) -> None:
    """Whoever owns the role of the service can set its search_path."""
    settings = app.config["SETTINGS"]
    if settings.uses_sqlite:
        pytest.skip("SQLite has no clock of its own")
    with psycopg.connect(settings.database_url.replace("+psycopg", "")) as connection:
        connection.execute("CREATE SCHEMA other")
        connection.execute(
            "CREATE FUNCTION other.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
            "$$ SELECT pg_catalog.clock_timestamp() + interval '800 days' $$"
        )
        connection.execute("CREATE DOMAIN other.float8 AS double precision CHECK (VALUE < 0)")
        connection.execute("SET LOCAL search_path = other, pg_catalog, public")
        _follow_clock(connection)  # type: ignore[arg-type]
        connection.rollback()
    assert clock.read_ago() < 1
    assert abs(ahead()) < 0.5
