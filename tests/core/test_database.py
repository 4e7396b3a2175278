"""What an error of the database says, and what it does not."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.core import reading
from app.extensions import db

SECRET = "not for the log"


def test_a_failed_change_does_not_tell_what_was_written(app: Flask) -> None:
    with app.app_context(), pytest.raises(SQLAlchemyError) as raised:
        db.session.execute(text("INSERT INTO bees (name) VALUES (:name)"), {"name": SECRET})
    assert SECRET not in str(raised.value)


def test_a_failed_reading_does_not_tell_what_was_asked(app: Flask) -> None:
    statement = text("SELECT * FROM bees WHERE name = :name")
    with app.app_context(), pytest.raises(SQLAlchemyError) as raised, reading.connect() as opened:
        opened.execute(statement, {"name": SECRET})
    assert SECRET not in str(raised.value)
