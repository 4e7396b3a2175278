"""What commands run in: the application, and a database with the tables of this version.

``app.cli.runtime`` is imported when a command runs, as help and wrong usage do without it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click
from flask import Flask

Result = TypeVar("Result")


def with_app(command: Callable[..., Result]) -> Callable[..., Result]:
    """Run a command in an app context."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        with _application().app_context():
            return command(*args, **options)

    return run


def in_database(command: Callable[..., Result]) -> Callable[..., Result]:
    """Run a command in an app context, on a database with the tables of this version.

    An empty database gets its tables, so that a command works before the first start. One of
    another version stays as it is: a service of that version may be using it.
    """

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        _prepare_tables()
        return command(*args, **options)

    return with_app(run)


def _application() -> Flask:
    """The application of this run, which tests may have given."""
    root = click.get_current_context().find_root()
    if root.obj is None:
        from app.cli.runtime import create_core  # noqa: PLC0415 - see above

        root.obj = create_core()
    app: Flask = root.obj
    return app


def _prepare_tables() -> None:
    from app.cli.runtime import prepare_tables  # noqa: PLC0415 - see above

    prepare_tables()
