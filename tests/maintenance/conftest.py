"""Instances of their own: these tests replace whole databases, and plant faults in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from app.db import queries
from app.db.column_types import metadata
from app.db.extensions import db
from app.factory import create_app
from app.jobs import pauses
from app.maintenance import jobs
from config import load_settings
from tests import templates
from tests.make.apps import CHEAP_PASSWORDS

_numbers = itertools.count(1)

MakeInstance = Callable[..., Flask]


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pruning pauses after each batch, and prunes what other tests left too."""
    monkeypatch.setattr(pauses, "FACTOR", 0)


def prune() -> int:
    """Run all jobs that delete expired rows. Returns the number of rows deleted."""
    return sum(job.function() for job in jobs.JOBS)


@pytest.fixture(scope="session")
def _spare() -> list[Flask]:
    """Applications on databases of PostgreSQL that are empty again: a new one takes a second."""
    return []


@pytest.fixture
def make_instance(
    request: pytest.FixtureRequest, scratch: Path, valkey_url: str, _spare: list[Flask]
) -> Iterator[MakeInstance]:
    """Makes an application on an empty database of its own: ``make_instance("sqlite")``.

    With ``tables=False`` the database has none; with ``lasting=False`` the test may do to them
    what it likes.
    """
    made: list[tuple[Flask, bool]] = []

    def make(kind: str, *, tables: bool = True, lasting: bool = True, **environ: str) -> Flask:
        reusable = kind == "postgresql" and tables and lasting and not environ
        if reusable and _spare:
            made.append((_spare.pop(), True))
            return made[-1][0]
        settings = {
            "INSTANCE_PATH": str(scratch / f"maintenance{next(_numbers)}"),
            "REDIS_URL": f"{valkey_url}?db=4",
            "LOG_LEVEL": "error",
            "RATE_LIMIT_DISABLED": "true",
            **CHEAP_PASSWORDS,
        }
        if kind == "postgresql":
            server = request.getfixturevalue("postgres")
            settings["DATABASE_URL"] = server.create_database(has_tables=tables)
        elif tables:
            templates.copy_sqlite(Path(settings["INSTANCE_PATH"]))
        app = create_app(load_settings(settings | environ))
        made.append((app, reusable))
        return app

    yield make
    for app, reusable in made:
        close(app)
        if reusable:
            _empty(app)
            _spare.append(app)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def instance(request: pytest.FixtureRequest, make_instance: MakeInstance) -> Flask:
    """An application on a database of its own, with ``--slow`` once on each kind."""
    return make_instance(request.param)


@pytest.fixture
def sqlite(make_instance: MakeInstance) -> Flask:
    """An application on a SQLite database of its own."""
    return make_instance("sqlite")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a test puts its files."""
    return tmp_path


def close(app: Flask) -> None:
    """End the connections of an application."""
    with app.app_context():
        db.engine.dispose()
        queries.reading_engine().dispose()


def _empty(app: Flask) -> None:
    with app.app_context(), db.engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {', '.join(metadata.tables)} RESTART IDENTITY"))
    close(app)
