"""How errors of maintenance and the database become messages of a command."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from app.cli.output import CommandError
from app.db.snapshots import DATABASE_ERRORS, reason
from app.maintenance.errors import MaintenanceError

Result = TypeVar("Result")


def errors_as_messages(command: Callable[..., Result]) -> Callable[..., Result]:
    """Turn the errors of a command and its databases into a sentence and exit code 1."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        try:
            return command(*args, **options)
        except MaintenanceError as error:
            raise CommandError(str(error)) from None
        except DATABASE_ERRORS as error:
            raise CommandError(f"The database cannot be used ({reason(error)}).") from None

    return run
