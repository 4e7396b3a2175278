"""The environment of commands: the application, and a database with the tables of this version.

``app.cli.runtime`` is imported when a command runs, as help and wrong usage do not need it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click
from flask import Flask, current_app

from app.cli.output import add_examples, json_option
from config import Settings

Result = TypeVar("Result")


def with_app(command: Callable[..., Result], *, creates: bool = False) -> Callable[..., Result]:
    """Run a command in an app context.

    Args:
        creates: make an instance and its database if there are none.
    """

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        with (
            _run_application(creates).app_context(),
            _load_runtime().as_operator(_canopy_command()),
        ):
            return command(*args, **options)

    return run


def in_database(command: Callable[..., Result], *, creates: bool = False) -> Callable[..., Result]:
    """Run a command in an app context, on a database that has the tables of this version.

    Args:
        creates: make an instance and its tables if there are none.
    """

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        _load_runtime().require_tables(creates=creates)
        return command(*args, **options)

    return with_app(run, creates=creates)


def database_command(*examples: str, text: str = "") -> Callable[[Any], Any]:
    """Decorate a command that runs ``in_database`` and has ``--json``.

    Args:
        examples: as in ``add_examples``.
        text: likewise.
    """
    return lambda command: json_option(add_examples(*examples, text=text)(in_database(command)))


def create_application(settings: Settings) -> Flask:
    """Make the application for these settings."""
    app: Flask = _load_runtime().create_core(settings)
    return app


def running_app() -> Flask:
    """Return the application of the running command, for other threads."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    return app


def upgrade(*, keeps_copy: bool = True) -> None:
    """Bring the tables up to date. Raises CommandError if that is not possible."""
    _load_runtime().upgrade(keeps_copy=keeps_copy)


def _run_application(creates: bool) -> Flask:
    """Return the application of this run, which a test may have set."""
    root = click.get_current_context().find_root()
    if root.obj is None:
        root.obj = _load_runtime().make_application(creates=creates)
    app: Flask = root.obj
    return app


def _canopy_command() -> str:
    """Return the command of this run, without its arguments, which may include a password."""
    context = click.get_current_context()
    words = context.command_path.removeprefix(context.find_root().command_path)
    return f"bin/canopy{words}"


def _load_runtime() -> Any:
    from app.cli import runtime  # noqa: PLC0415 - see above

    return runtime
