"""``bin/canopy migrate``: bringing the tables up to date."""

from __future__ import annotations

from functools import partial

import click

from app.cli.context import upgrade, with_app
from app.cli.output import examples, json_option, show_record
from app.db.migrations import current_revision


@click.command("migrate")
@json_option
@examples("migrate")
@partial(with_app, creates=True)
def migrate(as_json: bool) -> None:
    """Bring the tables of the database up to date.

    An empty database gets its tables. The service does this when it starts. If they are up to date
    already, nothing happens.
    """
    previous = current_revision()
    upgrade()
    show_record({"revision": current_revision(), "previous": previous}, as_json=as_json)


commands = [migrate]
