"""``bin/canopy account export``: an archive of an account."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import click

from app.account.lookup import find_account
from app.cli.context import in_database, running_app
from app.cli.failures import errors_as_messages
from app.cli.output import add_examples, json_option, output_option, show_record
from app.db.transactions import transaction
from app.exports.account_export.contents import CONTENTS
from app.exports.account_export.json_files import ExportedAccount
from app.exports.account_export.service import OnBatch, log_account_export, write_archive
from app.maintenance.backup_file import new_backup_file
from app.settings.current import current_settings


@click.command("export")
@click.argument("account", metavar="ACCOUNT")
@output_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@json_option
@add_examples(
    "account export green-woods --output green-woods.zip",
    "account export green-woods --output - | ssh backup@example.org 'cat > green-woods.zip'",
)
@in_database
@errors_as_messages
def export(account: str, path: Path, force: bool, as_json: bool) -> None:
    """Write everything that an account has to an archive.

    ACCOUNT is its id or slug. FILE is the zip of GET /v1/account/export: projects and assets as
    GeoJSON, everything else as JSON, and a README.txt; no secrets. FILE is complete or not there,
    and only its owner can read it. bin/canopy account import takes it into another account; to
    restore an instance, use bin/canopy backup.
    """
    row = find_account(account)
    instance = current_settings().public_url
    records = Counter[str]()
    with _open_output(path, overwrite=force) as file:
        with transaction():
            log_account_export(row.id, row.name)
        with _show_progress(records, quiet=as_json) as on_batch:
            _write_archive(ExportedAccount(row.id, row.slug, instance), file, on_batch)
    if str(path) != "-":
        record: dict[str, Any] = {"file": str(path.absolute()), "bytes": path.stat().st_size}
        record |= {name: records[f"{name}.geojson"] for name in ("projects", "assets")}
        show_record(record, as_json=as_json)


@contextmanager
def _open_output(path: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield sys.stdout.buffer
        return
    with new_backup_file(path, overwrite=overwrite) as file:
        yield file


def _write_archive(account: ExportedAccount, file: IO[bytes], on_batch: OnBatch) -> None:
    with closing(write_archive(account, running_app(), on_batch).pieces) as pieces:
        file.writelines(pieces)


@contextmanager
def _show_progress(records: Counter[str], *, quiet: bool) -> Iterator[OnBatch]:
    """Count the records of each file, and show a bar over the files on a terminal."""

    def count(name: str, number: int) -> None:
        records[name] += number

    if quiet or not sys.stderr.isatty():
        yield count
        return
    bar: Any = click.progressbar(
        length=len(CONTENTS),
        label="Exporting",
        file=sys.stderr,
        item_show_func=lambda text: text or "",
        update_min_steps=0,  # show the records of a file while it is written
    )
    with bar:

        def show(name: str, number: int) -> None:
            count(name, number)
            bar.update(len(records) - 1 - bar.pos, f"{name} {records[name]:,}")

        yield show
        bar.update(1, "")
