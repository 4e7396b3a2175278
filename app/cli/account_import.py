"""``bin/canopy account import``: the archive of an account, into a new or an empty one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import click

from app.account.lookup import find_account
from app.account.validation import check_account, check_plan
from app.cli.accounts import create_with_key, password_option, plan_option
from app.cli.context import in_database
from app.cli.failures import errors_as_messages
from app.cli.output import CommandError, add_examples, json_option, print_text, show_record
from app.cli.progress import ProgressBar
from app.db.transactions import transaction
from app.formats.features import FileInvalid
from app.imports.account_archive.reading import AccountArchive
from app.imports.account_archive.service import (
    ArchiveReader,
    check_empty,
    write_account,
)
from app.imports.account_archive.staging import Staging
from app.limits.plan_file import default_plan, plan_of
from app.maintenance.backup_file import new_backup_file
from app.values.records import hectares
from app.values.text import pluralize

_DIFFERING_SHOWN: Final = 5


class _Target(NamedTuple):
    """The account that an archive is imported into: an existing one, or the values of a new one."""

    plan: str
    account: Any = None
    values: Mapping[str, Any] = {}

    def open(self) -> tuple[Any, dict[str, Any]]:
        """The account, created if it is new, and what is printed of it."""
        if self.account is None:
            return create_with_key(**self.values)
        record = {"account_id": self.account.id, "slug": self.account.slug, "plan": self.plan}
        return self.account, record


@click.command("import")
@click.argument(
    "path", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--account", "existing", metavar="ACCOUNT", help="An account without projects.")
@click.option("--owner-email", help="Email address of the person who owns the new account.")
@password_option
@click.option("--name", help="Name of the new account; by default, that in the archive.")
@plan_option
@click.option(
    "--ids",
    "ids_path",
    default="ids.csv",
    show_default=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write the old and the new id of each record.",
)
@click.option("--force", is_flag=True, help="Replace the file with the ids if it exists.")
@click.option("--dry-run", is_flag=True, help="Check the archive, and write nothing.")
@json_option
@add_examples(
    "account import green-woods.zip --owner-email jo@example.org --dry-run",
    "account import green-woods.zip --owner-email jo@example.org --plan pro",
    "account import green-woods.zip --account green-woods --ids new-ids.csv --json",
)
@in_database
@errors_as_messages
def import_account_command(
    path: Path,
    existing: str | None,
    ids_path: Path,
    force: bool,
    dry_run: bool,
    as_json: bool,
    **of_new: str | None,
) -> None:
    """Import an archive into a new account or an empty one.

    FILE is what bin/canopy account export wrote. Projects, assets and all boundaries that a project
    has had arrive with their names, slugs, external ids, states, metadata and dates, and get new
    ids. People, keys, webhooks, events and the audit log are not imported. FILE is checked first;
    then everything is written, or nothing. No events are written, so webhooks are sent nothing.
    """
    with ExitStack() as stack:
        stack.enter_context(_problems_as_message(path))
        archive = stack.enter_context(AccountArchive(path))
        target = _target(archive, existing, **of_new)
        ids = None if dry_run else stack.enter_context(new_backup_file(ids_path, overwrite=force))
        staging = stack.enter_context(Staging())
        staged = _check_archive(archive, staging, quiet=as_json)
        warnings = list(_warnings(staged, target.plan))
        for warning in () if as_json else warnings:
            print_text(f"Warning: {warning}\n", err=True)
        record: dict[str, Any] = {}
        if ids is not None:
            with transaction():
                account, record = target.open()
                _write(account, archive, staging, staged, quiet=as_json)
                _write_ids(ids, (archive.source.account, account.id), staging)
    record |= {
        "projects": staged.rows["project"],
        "assets": staged.rows["asset"],
        "boundaries": staged.rows["boundary"],
        "hectares": hectares(staged.area_m2),
        "stored_bytes": staged.stored_bytes,
        "ids": None if dry_run else str(ids_path.absolute()),
    }
    if as_json:
        source = archive.source._asdict()
        record |= {"source": source, "dry_run": dry_run, "warnings": warnings}
    show_record(record, as_json=as_json)


def _target(archive: AccountArchive, existing: str | None, **of_new: str | None) -> _Target:
    """The account that is named by options. Raises UsageError, ApiError if nothing can be imported
    into it."""
    email, name = of_new.pop("owner_email"), of_new["name"]
    if (existing is None) == (email is None):
        raise click.UsageError(
            "Name an empty account with --account, or a new one's --owner-email."
        )
    if existing is not None:
        if given := [option for option, value in of_new.items() if value is not None]:
            option = given[0].replace("_", "-")
            raise click.UsageError(f"--{option} is for a new account; leave it out with --account.")
        account = find_account(existing)
        check_empty(account)
        return _Target(account.plan, account)
    values: dict[str, Any] = {
        "name": archive.name if name is None else name.strip(),
        "owner_email": (email or "").strip(),
        "owner_password": of_new["owner_password"],
        "type": archive.type,
    }
    check_account(*values.values())
    plan = of_new["plan"] or default_plan()
    check_plan(plan)
    slug = archive.source.slug if name is None else None
    return _Target(plan, values=values | {"plan": plan, "slug": slug})


@contextmanager
def _problems_as_message(path: Path) -> Iterator[None]:
    try:
        yield
    except FileInvalid as error:
        raise CommandError(f"{path}: {error}") from None
    except sqlite3.Error as error:
        raise CommandError(
            f"The temporary file for the rows cannot be written ({error}). Set TMPDIR to a folder "
            "with more room."
        ) from None


def _check_archive(archive: AccountArchive, staging: Staging, *, quiet: bool) -> ArchiveReader:
    with ProgressBar("Checking ", quiet=quiet) as bar:
        bar.start(archive.total)
        reader = ArchiveReader(archive, staging, bar.advance)
        reader.read()
        return reader


def _write(
    account: Any, archive: AccountArchive, staging: Staging, staged: ArchiveReader, *, quiet: bool
) -> None:
    with ProgressBar("Importing", quiet=quiet) as bar:
        bar.start(staged.rows.total())
        write_account(account, staging, staged.rows, archive.source, bar.advance)


def _write_ids(file: IO[bytes], account_ids: tuple[str, str], staging: Staging) -> None:
    """Write a CSV file with a line for each record."""
    file.write(b"type,old_id,new_id\n")
    for ids in chain((("account", *account_ids),), staging.ids()):
        file.write(",".join(ids).encode() + b"\n")


def _warnings(staged: ArchiveReader, plan: str) -> Iterator[str]:
    limit = plan_of(plan).hectares
    if limit is not None and staged.area_m2 > limit * 10_000:
        yield (
            f"The archive has {staged.area_m2 / 10_000:,.4f} ha, and the plan {plan} is meant for "
            f"{limit:,} ha. Nothing is blocked."
        )
    if staged.differing:
        number, shown = len(staged.differing), staged.differing[:_DIFFERING_SHOWN]
        areas = ", ".join(
            f"{name} ({here / 10_000:,.4f} ha, there {there / 10_000:,.4f} ha)"
            for name, there, here in shown
        )
        more = "" if number == len(shown) else f" and {number - len(shown):,} others"
        yield f"The area of {pluralize(number, 'project')} was measured otherwise: {areas}{more}."
    if staged.left_out:
        records = pluralize(staged.left_out, "record")
        yield f"Left out {records} of changes that were made while the archive was written."
