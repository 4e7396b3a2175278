"""Imported when a command runs: the application, and the tables of its database."""

from __future__ import annotations

import getpass
import os
from contextlib import AbstractContextManager

from flask import Flask

from app.audit.origin import Actor, Via, acting
from app.cli.output import CommandError, echo
from app.core import create_core
from app.db import migrations, revisions
from app.values.files import make_files_private


def make_application() -> Flask:
    """The application without its routes. From then on, this process makes private files."""
    app = create_core()
    make_files_private()
    return app


def as_operator(command: str) -> AbstractContextManager[None]:
    """Attribute what a command changes to the operator, in the audit log."""
    return acting(Actor("operator", None, _user_name()), Via(user_agent=command))


def _user_name() -> str:
    """The name of the system's user who runs the command."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number without a name, as in containers
        return f"user {os.getuid()}"


def upgrade(*, keeps_copy: bool = True) -> None:
    """Bring the tables up to date. Raises CommandError when that is not possible."""
    try:
        migrations.upgrade(lambda line: echo(line, err=True), keeps_copy=keeps_copy)
    except migrations.CannotMigrate as error:
        raise CommandError(str(error)) from None


def prepare_tables() -> None:
    """Make the tables of an empty database. Raises CommandError for those of another version."""
    if revisions.is_supported():
        return
    found = revisions.current_revision()
    if found is not None:
        raise CommandError(revisions.of_another_version(found))
    upgrade()
    echo("The database was empty; its tables were created.", err=True)
