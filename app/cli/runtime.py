"""The application of a command, and the tables of its database. Imported when a command runs."""

from __future__ import annotations

import getpass
import os
from contextlib import AbstractContextManager

from flask import Flask

from app.audit.origin import Actor, Via, acting_as
from app.cli.output import CommandError, print_text
from app.cli.settings import read_settings
from app.core import create_core
from app.db import migrations, revisions
from app.db.extensions import db
from app.db.snapshots import shown_url
from app.values.command_name import canopy_command
from app.values.files import make_files_private


def make_application(*, creates: bool) -> Flask:
    """Make the application without its routes. From then on, files of this process are private.

    Args:
        creates: make an instance if there is none, which otherwise raises SettingsError.
    """
    app = create_core(read_settings(creates=creates))
    make_files_private()
    return app


def as_operator(command: str) -> AbstractContextManager[None]:
    """Attribute the changes of a command to the operator in the audit log."""
    return acting_as(Actor("operator", None, _user_name()), Via(user_agent=command))


def _user_name() -> str:
    """Return the name of the system's user who runs the command."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user has no name, as in containers
        return f"user {os.getuid()}"


def upgrade(*, keeps_copy: bool = True) -> None:
    """Bring the tables up to date. Raises CommandError if that is not possible."""
    try:
        migrations.upgrade(lambda line: print_text(line, err=True), keeps_copy=keeps_copy)
    except migrations.CannotMigrate as error:
        raise CommandError(str(error)) from None


def require_tables(*, creates: bool) -> None:
    """Raise CommandError if this version does not run on the tables of the database.

    Args:
        creates: make the tables if there are none.
    """
    if revisions.is_supported():
        return None
    revision = revisions.current_revision()
    if revision is None and creates:
        return upgrade()
    if revision is None:
        name = shown_url(db.engine.url)
        raise CommandError(
            f"The database {name} has no tables. Start the service, or run: "
            f"{canopy_command()} migrate. Is DATABASE_URL the one of the service?"
        )
    raise CommandError(revisions.of_another_version(revision))
