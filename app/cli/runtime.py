"""Imported when a command runs: the application, and the tables of its database."""

from __future__ import annotations

import getpass
import os
from contextlib import AbstractContextManager

from flask import Flask

from app.audit.origin import Actor, Via, acting
from app.cli.output import CommandError, echo
from app.core import create_core
from app.db import migrations
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


def upgrade() -> None:
    """Bring the tables up to date. Raises CommandError when that is not possible."""
    try:
        migrations.upgrade()
    except SystemExit:  # Flask-Migrate raises it after logging an error
        raise CommandError(
            "The database cannot be migrated. A newer version of Canopy may have used it."
        ) from None


def prepare_tables() -> None:
    """Make the tables of an empty database. Raises CommandError for those of another version."""
    if migrations.is_supported():
        return
    found, needed = migrations.current_revision(), migrations.newest_revision()
    if found is not None:
        advice = migrations.advice(found)
        raise CommandError(
            f"The database has the tables of another version of Canopy ({found}; this one needs "
            f"{needed}). {advice}"
        )
    upgrade()
    echo("The database was empty; its tables were created.", err=True)
