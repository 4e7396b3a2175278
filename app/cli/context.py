"""The environment of commands: the application, and a database with the tables of this version.

``app.cli.runtime`` is imported when a command runs, as help and wrong usage do without it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click
from flask import Flask

from config import Settings

Result = TypeVar("Result")


def with_app(command: Callable[..., Result]) -> Callable[..., Result]:
    """Run a command in an app context."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        with _application().app_context(), _runtime().as_operator(_command_name()):
            return command(*args, **options)

    return run


def in_database(command: Callable[..., Result]) -> Callable[..., Result]:
    """Run a command in an app context, on a database with the tables of this version.

    An empty database gets its tables, so that a command works before the first start. One of
    another version stays as it is: a service of that version may be using it.
    """

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        _runtime().prepare_tables()
        return command(*args, **options)

    return with_app(run)


def create_application(settings: Settings) -> Flask:
    """The application for these settings."""
    app: Flask = _runtime().create_core(settings)
    return app


def upgrade(*, keeps_copy: bool = True) -> None:
    """Bring the tables up to date. Raises CommandError when that is not possible."""
    _runtime().upgrade(keeps_copy=keeps_copy)


def _application() -> Flask:
    """The application of this run, which a test may have set."""
    root = click.get_current_context().find_root()
    if root.obj is None:
        root.obj = _runtime().make_application()
    app: Flask = root.obj
    return app


def _command_name() -> str:
    """The command of this run, without its arguments, which may include a password."""
    return f"bin/canopy {click.get_current_context().command_path.partition(' ')[2]}".strip()


def _runtime() -> Any:
    from app.cli import runtime  # noqa: PLC0415 - see above

    return runtime
