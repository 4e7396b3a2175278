"""How the commands of maintenance fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from app.cli.output import Refused
from app.db.snapshots import DATABASE_ERRORS, reason
from app.maintenance.errors import MaintenanceError

Result = TypeVar("Result")


def errors_as_messages(command: Callable[..., Result]) -> Callable[..., Result]:
    """What a command and its databases fail with becomes a sentence and exit code 1."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        try:
            return command(*args, **options)
        except MaintenanceError as error:
            raise Refused(str(error)) from None
        except DATABASE_ERRORS as error:
            raise Refused(f"The database cannot be used ({reason(error)}).") from None

    return run
