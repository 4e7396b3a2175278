"""``bin/canopy secret-key``: changing ``SECRET_KEY`` without losing what the old one encrypted."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from typing import Final

import click
from flask import current_app

from app.cli.context import in_database, with_app
from app.cli.group import Commands
from app.cli.output import CommandError, examples, json_option, show_json
from app.db.extensions import db
from app.maintenance.sealed import SEALED, batches_of
from app.values.files import write_private_file
from config import FORMER_SECRET_KEY_FILE, SECRET_KEY_FILE, Settings

_KEY_BYTES: Final = 48


@click.group("secret-key", cls=Commands)
def secret_key() -> None:
    """Change SECRET_KEY in two steps, with a restart between them."""


@secret_key.command("rotate")
@json_option
@examples("secret-key rotate")
@with_app
def rotate(as_json: bool) -> None:
    """Step 1: make a new key and keep the old one for reading.

    Where the environment has SECRET_KEY, the new key is shown, to be set there. Else both are files
    in the instance folder, and what is left to do is a restart.
    """
    settings: Settings = current_app.config["SETTINGS"]
    if settings.secret_key_former:
        raise CommandError("The last change is not finished. Run: bin/canopy secret-key finish")
    new = secrets.token_urlsafe(_KEY_BYTES)
    folder = settings.instance_path
    if os.environ.get("SECRET_KEY", "").strip():
        shown = {"SECRET_KEY": new, "SECRET_KEY_FORMER": settings.secret_key}
        text = (
            "Set these two where SECRET_KEY is set now, for all parts, and restart them:\n\n"
            f"  SECRET_KEY={new}\n  SECRET_KEY_FORMER={settings.secret_key}\n"
        )
    else:
        write_private_file(folder / FORMER_SECRET_KEY_FILE, settings.secret_key.encode())
        write_private_file(folder / SECRET_KEY_FILE, new.encode())
        shown = {"file": str(folder / SECRET_KEY_FILE)}
        text = f"There is a new key in {folder / SECRET_KEY_FILE}. Restart Canopy now."
    if as_json:
        show_json(shown | {"next": "restart, then bin/canopy secret-key finish"})
    else:
        click.echo(f"{text}\nThen run: bin/canopy secret-key finish")


@secret_key.command("finish")
@json_option
@examples("secret-key finish")
@in_database
def finish(as_json: bool) -> None:
    """Step 2, after the restart: encrypt everything with the new key.

    It can be run again, and while the service runs. Exit code 1 when something can be read with
    neither key, such as webhooks that were restored from a backup of another instance; they need a
    new secret each.
    """
    settings: Settings = current_app.config["SETTINGS"]
    sealed: Counter[str] = Counter()
    unreadable: Counter[str] = Counter()
    for column in SEALED:
        for batch in batches_of(column):
            db.session.commit()
            sealed[batch.table] += batch.sealed
            unreadable[batch.table] += batch.unreadable
    (settings.instance_path / FORMER_SECRET_KEY_FILE).unlink(missing_ok=True)
    if as_json:
        show_json({"sealed": dict(sealed), "unreadable": dict(+unreadable)})
    else:
        click.echo(f"Encrypted with the present SECRET_KEY: {sealed.total():,} values.")
        if os.environ.get("SECRET_KEY_FORMER"):
            click.echo("SECRET_KEY_FORMER is not needed any more; take it away.")
    if unreadable.total():
        named = ", ".join(f"{number:,} in {table}" for table, number in (+unreadable).items())
        raise CommandError(f"Some can be read with neither key: {named}.")


commands = [secret_key]
