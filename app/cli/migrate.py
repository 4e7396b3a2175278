"""``bin/canopy migrate``: bringing the tables up to date."""

from __future__ import annotations

import click
from flask.cli import with_appcontext

from app.cli.group import upgrade
from app.cli.output import examples, json_option, show_record
from app.db.migrations import current_revision


@click.command("migrate")
@json_option
@examples("migrate")
@with_appcontext
def migrate(as_json: bool) -> None:
    """Bring the tables of the database up to date.

    bin/serve does so when it starts. Nothing happens when they are up to date already.
    """
    previous = current_revision()
    upgrade()
    show_record({"revision": current_revision(), "previous": previous}, as_json=as_json)


commands = [migrate]
