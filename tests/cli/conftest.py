"""Running commands in-process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from app.cli import canopy
from app.core import create_core
from app.db.connections import close_all

Run = Callable[..., Result]


def runner(app: Flask) -> Run:
    """Runs ``bin/canopy`` with the arguments that it is called with."""

    def run(*arguments: str, input: str | None = None) -> Result:
        return CliRunner().invoke(canopy, arguments, obj=app, input=input, catch_exceptions=False)

    return run


@pytest.fixture(scope="session")
def core(app: Flask) -> Iterator[Flask]:
    """What commands run in, on the database of ``app``."""
    made = create_core(app.config["SETTINGS"])
    yield made
    with made.app_context():
        close_all()


@pytest.fixture
def run(core: Flask) -> Run:
    return runner(core)
