"""``bin/canopy migrate``: bringing the tables up to date."""

from __future__ import annotations

from functools import partial

import click

from app.cli.context import upgrade, with_app
from app.cli.output import add_examples, json_option, show_record
from app.db.revisions import current_revision


@click.command("migrate")
@click.option("--without-copy", is_flag=True, help="Keep no copy of a SQLite database.")
@json_option
@add_examples("migrate")
@partial(with_app, creates=True)
def migrate(without_copy: bool, as_json: bool) -> None:
    """Bring the tables of the database up to date.

    An empty database gets its tables. The service does this when it starts. If they are up to date
    already, nothing happens. A SQLite file is copied first; the copy,
    canopy.sqlite3.revision-NUMBER, lies beside it until the next migration.
    """
    previous = current_revision()
    upgrade(keeps_copy=not without_copy)
    show_record({"revision": current_revision(), "previous": previous}, as_json=as_json)
