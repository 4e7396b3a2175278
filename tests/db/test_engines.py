"""What waits for the disk; what an error of the database says, what it does not, and which are an
outage."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from app.db import queries
from app.db.engines import is_outage, without_waiting
from app.db.extensions import db

pytestmark = pytest.mark.both


SECRET = "not for the log"


def test_only_what_may_be_lost_does_not_wait_for_the_disk(app: Flask) -> None:
    sqlite = app.config["SETTINGS"].uses_sqlite
    setting = "PRAGMA synchronous" if sqlite else "SHOW synchronous_commit"
    waits, does_not = (2, 1) if sqlite else ("on", "off")
    with app.app_context():
        with without_waiting() as connection:
            assert connection.exec_driver_sql(setting).scalar() == does_not
        with queries.reading_connection() as connection:
            assert connection.exec_driver_sql(setting).scalar() == waits
        assert db.session.execute(text(setting)).scalar() == waits


def test_a_failed_change_does_not_tell_what_was_written(app: Flask) -> None:
    with app.app_context(), pytest.raises(SQLAlchemyError) as raised:
        db.session.execute(text("INSERT INTO bees (name) VALUES (:name)"), {"name": SECRET})
    assert SECRET not in str(raised.value)


def test_a_failed_reading_does_not_tell_what_was_asked(app: Flask) -> None:
    statement = text("SELECT * FROM bees WHERE name = :name")
    with (
        app.app_context(),
        pytest.raises(SQLAlchemyError) as raised,
        queries.reading_connection() as opened,
    ):
        opened.execute(statement, {"name": SECRET})
    assert SECRET not in str(raised.value)


def test_a_wrong_statement_is_no_outage(app: Flask) -> None:
    with app.app_context(), pytest.raises(SQLAlchemyError) as raised:
        db.session.execute(text("SELECT * FROM bees"))
    assert not is_outage(raised.value)


def test_a_lock_that_is_not_had_is_an_outage(app: Flask) -> None:
    sqlite = app.config["SETTINGS"].uses_sqlite
    no_wait = "PRAGMA busy_timeout=1" if sqlite else "SET lock_timeout=1"
    take = text("SELECT 1" if sqlite else "LOCK TABLE accounts")
    with app.app_context(), db.engine.connect() as first, db.engine.connect() as second:
        first.execute(take)  # on SQLite each change begins with the lock
        driver: Any = second.connection.driver_connection
        driver.execute(no_wait)
        with pytest.raises(SQLAlchemyError) as raised:
            second.execute(take)
        second.invalidate()  # nobody else shall be as impatient
    assert is_outage(raised.value)


def test_a_server_that_is_not_there_is_an_outage() -> None:
    engine = create_engine("postgresql+psycopg://nobody@127.0.0.1:1/nothing")
    with pytest.raises(SQLAlchemyError) as raised:
        engine.connect()
    assert is_outage(raised.value)
