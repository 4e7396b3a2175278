"""Running commands in-process, on a shared database and on one that is still empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.cli import ScriptInfo

from app import create_app
from app.cli import canopy
from app.db import queries
from app.db.extensions import db
from config import load_settings
from tests.conftest import DATABASES

Run = Callable[..., Result]


def runner(app: Flask) -> Run:
    """Runs ``bin/canopy`` with the arguments that it is called with."""

    def run(*arguments: str, input: str | None = None) -> Result:
        info = ScriptInfo(create_app=lambda: app, set_debug_flag=False)
        return CliRunner().invoke(canopy, arguments, obj=info, input=input, catch_exceptions=False)

    return run


@pytest.fixture
def run(app: Flask) -> Run:
    return runner(app)


@pytest.fixture(params=DATABASES)
def empty_app(request: pytest.FixtureRequest, tmp_path: Path, valkey_url: str) -> Iterator[Flask]:
    """The application on a database of its own, without tables."""
    environ = {"INSTANCE_PATH": str(tmp_path / "instance"), "REDIS_URL": valkey_url}
    if request.param == "postgresql":
        environ["DATABASE_URL"] = request.getfixturevalue("postgres").create_database()
    made = create_app(load_settings(environ))
    yield made
    with made.app_context():
        db.engine.dispose()
        queries.engine().dispose()
