"""Turning errors of services, maintenance and the database into messages of commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click
from flask import Flask
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError

from app.cli.output import CommandError, command_error
from app.db.engines import is_outage
from app.db.migrations import CannotMigrate
from app.db.snapshots import DATABASE_ERRORS, error_reason, shown_url
from app.http.errors import ApiError
from app.maintenance import MaintenanceError
from app.values.text import printable_text
from config import SettingsError

Result = TypeVar("Result")


class InvalidSetting(click.ClickException):
    """A setting cannot be used. Shows only its sentence, and exits as after wrong usage."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(printable_text(self.message), file=file, err=True)


def message_of(error: Exception, app: Flask | None) -> click.ClickException | None:
    """Return the message for an error, or None if the error is a defect.

    Args:
        app: application of the command; None if there was none yet.
    """
    match error:
        case SettingsError():
            return InvalidSetting(str(error))
        case ArgumentError():
            return InvalidSetting("DATABASE_URL is not the URL of a database.")
        case ApiError():
            return command_error(error)
        case IntegrityError():
            cause = error_reason(error)
            return CommandError(
                f"Another change came at the same time ({cause}). Run the command again."
            )
        case SQLAlchemyError() if app is not None and is_outage(error):
            url = make_url(app.config["SETTINGS"].database_url)
            return CommandError(f"The database {shown_url(url)} {_outage_message(error, url)}.")
    return None


def errors_as_messages(command: Callable[..., Result]) -> Callable[..., Result]:
    """Turn the errors of a command and its databases into a sentence and exit code 1."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        try:
            return command(*args, **options)
        except (CannotMigrate, MaintenanceError) as error:
            raise CommandError(str(error)) from None
        except DATABASE_ERRORS as error:
            raise CommandError(f"The database cannot be used ({error_reason(error)}).") from None

    return run


def _outage_message(error: SQLAlchemyError, url: URL) -> str:
    cause = error_reason(error, url)
    if "locked" in cause or "lock timeout" in cause:
        return f"is busy with a long change ({cause}); run the command again when it is done"
    if "password authentication failed" in cause and url.password:
        cause += "; in DATABASE_URL, characters such as % and @ must be percent-encoded"
    return f"cannot be reached ({cause})"
