"""``bin/canopy account export``: one JSON document with what an account holds.

Projects and assets are read from one snapshot of the database, a few at a time, and written as they
are read, each on a line of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import click
from flask import current_app
from sqlalchemy import Connection, Select

from app.account.operator import find_account
from app.account.service import read_account
from app.assets.record import COLUMNS as ASSET_COLUMNS
from app.assets.record import row_record as asset_record
from app.audit.entries import Target, record
from app.auth.tenant import columns_of
from app.cli.context import in_database
from app.cli.failures import errors_as_messages
from app.cli.output import examples, json_option, show_record
from app.cli.output_file import output_option
from app.db.snapshots import database_url, snapshot
from app.db.transactions import transaction
from app.maintenance.archive import new_file
from app.members.service import list_members
from app.models import Asset, Project
from app.projects.record import COLUMNS as PROJECT_COLUMNS
from app.projects.record import row_record as project_record
from app.values import clock
from app.values.strict_json import dumps
from app.values.version import VERSION
from app.webhooks.service import list_webhooks

FORMAT: Final = "canopy-account"
FORMAT_VERSION: Final = 1
_ROWS_AT_ONCE: Final = 4  # in memory; a boundary may have megabytes

_PROJECTS: Final = columns_of(Project, *PROJECT_COLUMNS).order_by(Project.created_at, Project.id)
_ASSETS: Final = columns_of(Asset, *ASSET_COLUMNS).order_by(
    Asset.project_id, Asset.created_at, Asset.id
)


@click.command("export")
@click.argument("account", metavar="ACCOUNT")
@output_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@json_option
@examples(
    "account export green-woods --output green-woods.json",
    "account export green-woods --output - | gzip > green-woods.json.gz",
)
@in_database
@errors_as_messages
def export(account: str, path: Path, force: bool, as_json: bool) -> None:
    """Write an account's data to a JSON document.

    ACCOUNT is its id or slug. The document contains the account, its members, its webhooks without
    their secrets, its projects with their boundaries, and its assets. Only the owner of FILE can
    read it. It is for other programs and cannot be restored; for that, use bin/canopy backup.
    """
    found = find_account(account)
    with _output(path, overwrite=force) as file:
        counts = _write(file, found.id)
    with transaction():
        target = Target("account", found.id, found.name)
        record("account.exported", target, account_id=found.id)
    if str(path) != "-":
        shown = {"file": str(path.absolute()), "bytes": path.stat().st_size, **counts}
        show_record(shown, as_json=as_json)


@contextmanager
def _output(path: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield sys.stdout.buffer
        return
    with new_file(path, overwrite=overwrite) as file:
        yield file


def _write(file: IO[bytes], account_id: str) -> dict[str, int]:
    """Write the document. Returns the numbers of projects and assets."""
    url = database_url(current_app.config["SETTINGS"])
    head = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "made_at": clock.format_time(clock.now()),
        "made_by": f"Canopy {VERSION}",
        "account": read_account(account_id),
        "members": list_members(account_id),
        "webhooks": list_webhooks(account_id),
    }
    with snapshot(url) as connection:
        file.write(dumps(head).removesuffix(b"}"))
        file.write(b',"projects":[')
        projects = _write_rows(file, connection, _PROJECTS, account_id, project_record)
        file.write(b'],"assets":[')
        assets = _write_rows(file, connection, _ASSETS, account_id, asset_record)
        file.write(b"]}\n")
    return {"projects": projects, "assets": assets}


def _write_rows(
    file: IO[bytes],
    connection: Connection,
    statement: Select[Any],
    account_id: str,
    record: Callable[..., dict[str, Any]],
) -> int:
    """Write the account's records, each on a line. Returns how many."""
    number = 0
    options = {"yield_per": _ROWS_AT_ONCE}
    values = {"account_id": account_id}
    with connection.execute(statement, values, execution_options=options) as rows:
        for row in rows:
            file.write(b",\n" if number else b"\n")
            file.write(dumps(record(*row)))
            number += 1
    return number


commands = [export]
