"""``bin/canopy secret-key``: changing ``SECRET_KEY`` without losing encrypted values."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from contextlib import closing
from typing import Final

from redis.exceptions import RedisError

from app.audit.entries import write_instance_entry
from app.audit.guard import covered_by_other_entry
from app.cli.context import database_command, with_app
from app.cli.group import Commands
from app.cli.output import CommandError, add_examples, json_option, print_text, show_json
from app.db.extensions import db
from app.db.transactions import transaction
from app.doctor.checks.valkey import describe_part, parts_with_another_key, url_of
from app.jobs.valkey import connect_valkey
from app.maintenance.sealed_values import SEALED, reseal_batches
from app.processes.part_registry import EXPIRES_AFTER, running_parts, wait_for_entries
from app.settings.current import current_settings
from app.values.command_name import canopy_command
from app.values.files import write_private_file
from config import FORMER_SECRET_KEY_FILE, SECRET_KEY_FILE, Settings

_KEY_BYTES: Final = 48


secret_key = Commands(
    "secret-key", help="Change SECRET_KEY in two steps, with a restart between them."
)


@secret_key.command("rotate")
@json_option
@add_examples("secret-key rotate")
@with_app
def rotate_secret_key_command(as_json: bool) -> None:
    """Step 1: generate a new key, and keep the old one for decrypting.

    If SECRET_KEY is set in the environment, both keys are printed, for you to set there. Otherwise
    they are saved in the instance folder, and you only need to restart.
    """
    settings = current_settings()
    finish = canopy_command("secret-key finish")
    if settings.secret_key_former:
        raise CommandError(f"The previous change of the key is not finished. Run: {finish}")
    new = secrets.token_urlsafe(_KEY_BYTES)
    folder = settings.instance_path
    if os.environ.get("SECRET_KEY", "").strip():
        record = {"SECRET_KEY": new, "SECRET_KEY_FORMER": settings.secret_key}
        text = (
            "Set these two where SECRET_KEY is set now, for all parts, and restart them:\n\n"
            f"  SECRET_KEY={new}\n  SECRET_KEY_FORMER={settings.secret_key}\n"
        )
    else:
        write_private_file(folder / FORMER_SECRET_KEY_FILE, settings.secret_key.encode())
        write_private_file(folder / SECRET_KEY_FILE, new.encode())
        record = {"file": str(folder / SECRET_KEY_FILE)}
        text = f"There is a new key in {folder / SECRET_KEY_FILE}. Restart Canopy now."
    if as_json:
        show_json(record | {"next": f"restart, then {finish}"})
    else:
        print_text(f"{text}\nThen run: {finish}")


@secret_key.command("finish")
@database_command("secret-key finish")
def finish_rotation_command(as_json: bool) -> None:
    """Step 2, after the restart: re-encrypt everything with the new key.

    The command refuses while a web server or worker on any machine still runs with another key,
    because that process could no longer read what is encrypted. You can run the command again, even
    while the service runs. The exit code is 1 if neither key can decrypt some values, such as the
    secrets of webhooks from another instance's backup; give each of these webhooks a new secret.
    """
    settings = current_settings()
    _check_running_parts(settings)
    sealed: Counter[str] = Counter()
    unreadable: Counter[str] = Counter()
    for column in SEALED:
        for batch in reseal_batches(column):
            covered_by_other_entry("one entry at the end covers all of it")
            db.session.commit()
            sealed[batch.table] += batch.sealed
            unreadable[batch.table] += batch.unreadable
    with transaction():
        write_instance_entry("instance.secret_key_rotated")
    (settings.instance_path / FORMER_SECRET_KEY_FILE).unlink(missing_ok=True)
    if as_json:
        show_json({"sealed": dict(sealed), "unreadable": dict(+unreadable)})
    else:
        print_text(f"Values encrypted with the current SECRET_KEY: {sealed.total():,}.")
        if os.environ.get("SECRET_KEY_FORMER"):
            print_text("SECRET_KEY_FORMER is no longer needed; remove it.")
    if unreadable.total():
        numbers = ", ".join(f"{number:,} in {table}" for table, number in (+unreadable).items())
        raise CommandError(f"Neither key can decrypt some values: {numbers}.")


def _check_running_parts(settings: Settings) -> None:
    """Raise CommandError if a running part has another key, or that cannot be determined."""
    try:
        url = url_of(settings)
        if url is None:  # no part runs, as it would use the embedded Valkey
            return
        with closing(connect_valkey(url)) as client:
            wait_for_entries(client)
            others = parts_with_another_key(running_parts(client), settings)
    except (RedisError, OSError) as error:
        raise CommandError(
            f"Valkey does not respond ({error}), so the command cannot tell which SECRET_KEY the "
            "running processes use. Start Valkey, and run the command again."
        ) from None
    if others:
        lines = "".join(f"\n         {describe_part(part)}" for part in others)
        raise CommandError(
            "Nothing was changed. These processes still run with another SECRET_KEY than this "
            f"command:{lines}\n       Restart them with the new key, then run the command again. "
            f"Killed processes are forgotten after {EXPIRES_AFTER} seconds."
        )
