"""Running commands in-process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.cli import ScriptInfo

from app.cli import canopy

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
