"""What all commands share: the application context, and how errors become messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click
from flask.cli import ScriptInfo, with_appcontext
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError

from app.cli.output import CommandError, command_error
from app.db import migrations
from app.db.engines import is_outage
from app.db.snapshots import reason
from app.http.errors import ApiError
from config import SettingsError

Result = TypeVar("Result")


class InvalidSetting(click.ClickException):
    """A setting cannot be used. Shows its sentence alone; the exit code is that of wrong usage."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(self.message, file=file, err=True)


class CanopyGroup(click.Group):
    """All commands; their errors become a message and an exit code here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they were added, not alphabetically."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SettingsError as error:
            raise InvalidSetting(str(error)) from None
        except ArgumentError:
            raise InvalidSetting("DATABASE_URL is not an address of a database.") from None
        except ApiError as error:
            raise command_error(error) from None
        except IntegrityError as error:
            message = f"Another change came in between ({reason(error)}). Run the command again."
            raise CommandError(message) from None
        except SQLAlchemyError as error:
            if not is_outage(error):
                raise
            raise CommandError(f"The database {_database(ctx)} {_outage(error)}.") from None


def in_database(command: Callable[..., Result]) -> Callable[..., Result]:
    """Run a command in an app context, on a database with the tables of this version.

    An empty database gets its tables, so that a command works before the first start. One of
    another version stays as it is: a service of that version may be using it.
    """

    @wraps(command)
    def run(*args: Any, **options: Any) -> Result:
        _prepare_tables()
        return command(*args, **options)

    return with_appcontext(run)


def upgrade() -> None:
    """Bring the tables up to date. Raises CommandError when that is not possible."""
    try:
        migrations.upgrade()
    except SystemExit:  # Flask-Migrate raises it after logging an error
        raise CommandError(
            "The database cannot be brought up to date; was a newer version of Canopy used on it?"
        ) from None


def _prepare_tables() -> None:
    found, needed = migrations.current_revision(), migrations.newest_revision()
    if found == needed:
        return
    if found is not None:
        raise CommandError(
            f"The database has the tables of another version of Canopy ({found}; this one needs "
            f"{needed}). Make a backup, then run: bin/canopy migrate"
        )
    upgrade()
    click.echo("The database was empty; its tables are made.", err=True)


def _database(ctx: click.Context) -> str:
    """The address of the database without its password."""
    settings = ctx.ensure_object(ScriptInfo).load_app().config["SETTINGS"]
    return make_url(settings.database_url).render_as_string(hide_password=True)


def _outage(error: SQLAlchemyError) -> str:
    cause = reason(error)
    if "locked" in cause or "lock timeout" in cause:
        return f"is busy with a long change ({cause}); run the command again when it is done"
    return f"cannot be reached ({cause})"
