"""The clock follows the database's, so that hosts whose clocks differ agree."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import psycopg
import pytest
from flask import Flask

from app.db import connections
from app.db.postgresql.connection import _follow_clock
from app.values import clock
from tests.make import Client
from tests.waiting import wait_for

HOUR = 3600.0
NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def _unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock._DatabaseClock, "offset", None)
    monkeypatch.setattr(clock._DatabaseClock, "read_at", -1e9)


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steady clock of this machine stands still."""
    monkeypatch.setattr(time, "clock_gettime", lambda _: 1_000.0)


def is_ahead(seconds: float) -> bool:
    """Whether the clock is so far ahead of this machine's, within half a second."""
    before, now, after = time.time(), clock.now().timestamp(), time.time()
    return before - 0.5 <= now - seconds <= after + 0.5


@pytest.mark.usefixtures("steady")
def test_it_goes_by_the_databases_clock() -> None:
    clock.follow_database_clock(NOW)
    assert clock.now().timestamp() == NOW
    assert clock.read_ago() == 0


@pytest.mark.usefixtures("steady", "impatient")
def test_what_the_answer_took_does_not_move_it() -> None:
    clock.follow_database_clock(NOW)
    clock.follow_database_clock(NOW - 0.04)
    assert clock.now().timestamp() == NOW
    clock.follow_database_clock(NOW - 0.06)
    assert clock.now().timestamp() == pytest.approx(NOW - 0.06, abs=0.001)


def test_it_goes_on_when_the_clock_of_this_machine_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    clock.follow_database_clock(time.time())
    before, elsewhere = clock.now(), Mock(wraps=datetime)
    elsewhere.now.return_value = datetime.now(UTC) - timedelta(days=1)
    monkeypatch.setattr(clock, "datetime", elsewhere)
    assert timedelta(0) <= clock.now() - before < timedelta(hours=1)


def test_a_request_reads_it(client: Client, app: Flask) -> None:
    clock.follow_database_clock(time.time() + HOUR)

    def read() -> None:
        clock._DatabaseClock.read_at -= 11  # seconds ago
        assert client.get("/v1/projects").status_code == 200

    read()
    if app.config["SETTINGS"].uses_sqlite:
        assert not is_ahead(0), "SQLite has no clock of its own"
    else:  # and an answer that takes long does not set it
        wait_for(lambda: read() or is_ahead(0))


def test_a_forked_process_reads_it_again(app: Flask) -> None:
    clock.follow_database_clock(time.time() + HOUR)

    def read() -> None:
        with app.app_context():
            connections.close_all()
            connections.read_clock()

    read()
    if app.config["SETTINGS"].uses_sqlite:
        assert not is_ahead(0)
    else:
        wait_for(lambda: read() or is_ahead(0))


@pytest.mark.usefixtures("steady")
def test_an_answer_that_took_long_does_not_set_it() -> None:
    clock.follow_database_clock(NOW + HOUR)
    clock.follow_database_clock(NOW, took=2)
    assert clock.now().timestamp() == NOW + HOUR


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
    assert clock.read_ago() < 3600
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(days=1)
