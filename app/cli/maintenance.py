"""``bin/canopy backup``, ``restore`` and ``copy-database``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click
from sqlalchemy import URL

from app.audit.entries import changes_of_new, write_instance_entry
from app.cli.context import create_application, upgrade, with_app
from app.cli.failures import errors_as_messages
from app.cli.output import (
    add_examples,
    confirm_action,
    json_option,
    print_text,
    show_json,
    show_record,
    show_table,
    yes_option,
)
from app.cli.progress import ProgressBar
from app.db import queries, revisions
from app.db.extensions import db
from app.db.snapshots import database_url, shown_url
from app.db.transactions import transaction
from app.maintenance.authenticity import is_authentic, require_authentic
from app.maintenance.backup import NOT_INCLUDED, back_up, keep_newest, new_backup_name
from app.maintenance.backup_file import BackupReader, Manifest
from app.maintenance.copying import TableComparison, copy_database
from app.maintenance.restore import PresentData, check_backup, read_present, restore_backup
from app.outbound.switch import how_to_send, is_off_by_setting, is_outbound_off
from app.policy.deletion import DELETED_AFTER
from app.security.sealing import key_check
from app.settings.current import current_settings
from app.values import clock
from app.values.version import describe_version
from app.webhooks.held import count_waiting
from config import Settings, SettingsError, load_settings

_TABLES_SHOWN: Final = ("accounts", "projects", "events")
_IS_SENT: Final = (
    "Webhooks and emails that waited in it are sent then. For a copy that sends nothing, answer no "
    "and add --test-copy."
)
_file_argument = click.argument("path", metavar="FILE", type=click.Path(path_type=Path))


@click.command("backup")
@_file_argument
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option(
    "--keep",
    type=click.IntRange(1),
    metavar="N",
    help="Then delete all but the newest N backups that this command named in the folder FILE.",
)
@json_option
@add_examples("backup /backups/canopy.zip --force --json", "backup /backups --keep 14")
@with_app
@errors_as_messages
def write_backup_command(path: Path, force: bool, keep: int | None, as_json: bool) -> None:
    """Write all accounts, with everything in them, to a zip file.

    FILE is a snapshot of the database, taken while the service runs. It can be restored into SQLite
    or PostgreSQL. It appears when it is complete, and only its owner can read it. In a folder, it
    is named after the time: canopy-20261128T023000Z.zip.
    """
    folder = path if path.is_dir() else None
    if keep and folder is None:
        raise click.BadParameter("needs a folder that exists as FILE.", param_hint="--keep")
    if folder is not None:
        path = folder / new_backup_name()
    settings = current_settings()
    with ProgressBar("Writing", quiet=as_json) as bar:
        result = back_up(
            database_url(settings),
            path,
            secret_key=settings.secret_key,
            overwrite=force,
            progress=bar.advance,
            started=bar.start,
        )
    if revisions.is_supported():  # else there is no audit log
        _log_maintenance("instance.backed_up", path)
    if folder is not None and keep:
        keep_newest(folder, keep)
    record = {
        "file": str(path.absolute()),
        "bytes": result.size,
        **_manifest_record(result.manifest),
    }
    rows = result.manifest.rows()
    if as_json:
        show_json(record | {"rows": rows, "not_included": NOT_INCLUDED})
        return
    numbers = {name: rows[name] for name in _TABLES_SHOWN if name in rows}
    show_record(record | numbers, as_json=False)
    print_text("\nNot in the backup:\n  " + "\n  ".join(NOT_INCLUDED))


@click.command("restore")
@_file_argument
@click.option(
    "--unverified",
    is_flag=True,
    help="Restore FILE even if it has no signature, or one of another SECRET_KEY. Whoever wrote "
    "it may have given themselves access.",
)
@click.option(
    "--test-copy",
    "is_test_copy",
    is_flag=True,
    help="Send nothing out afterwards: no webhooks, no emails. For an instance beside the service.",
)
@yes_option
@json_option
@add_examples(
    "restore /backups/canopy.zip",
    "restore /backups/canopy.zip --test-copy",
    "restore /backups/canopy.zip --yes --json",
)
@with_app
@errors_as_messages
def restore_from_backup_command(
    path: Path, unverified: bool, is_test_copy: bool, yes: bool, as_json: bool
) -> None:
    """Replace everything in the database with a backup.

    The command first checks the whole FILE, including its signature. It then replaces everything in
    one step. The service may keep running: it shows the old state until the new one is complete,
    and changes wait or get a 503.

    Webhooks and emails that waited in the backup are sent then, unless this is a --test-copy, or
    sending was off here before.

    A backup of an older version is migrated. Tables that a newer version has migrated are dropped,
    so this is the way back to the version before an upgrade. For both, stop the service.
    """
    settings = current_settings()
    url = database_url(settings)
    keys = [key for key in (settings.secret_key, settings.secret_key_former) if key]
    with BackupReader(path) as source:
        if not unverified:
            require_authentic(source, keys)
        with ProgressBar("Checking ", quiet=as_json) as bar:
            bar.start(sum(source.manifest.rows().values()))
            check_backup(source, bar.advance)
        before, after = read_present(url), source.manifest.rows()
        if not (yes and as_json):
            _show_changes(url, source.manifest, before, settings)
        question = "Replace everything?"
        if not (is_test_copy or before.is_outbound_off or is_off_by_setting(settings)):
            if not (yes and as_json):
                print_text(_IS_SENT, err=True)
            if not before.rows.get("accounts"):
                question = "Is this the service now?"
        confirm_action(question, yes=yes, as_json=as_json)
        with ProgressBar("Restoring", quiet=as_json) as bar:
            bar.start(sum(after.values()))
            put_off = restore_backup(source, url, bar.advance, is_test_copy=is_test_copy)
    is_off, waiting = is_outbound_off(), count_waiting()
    _log_maintenance("instance.restored", path, outbound="off" if is_off else "on")
    record: dict[str, Any] = {"database": shown_url(url), "from": _manifest_record(source.manifest)}
    if as_json:
        same_key = _has_same_key(source.manifest, settings)
        record |= {"same_secret_key": same_key, "verified": is_authentic(source, keys)}
        record |= {"rows_before": before.rows, "rows": after, "deletions_put_off": put_off}
        record |= {"outbound": "off" if is_off else "on"}
        record |= {f"waiting_{name}": number for name, number in waiting._asdict().items()}
        show_json(record)
    else:
        print_text(f"Restored: {after['projects']:,} projects of {after['accounts']:,} accounts.")
        if is_off or any(waiting):
            numbers = f"{waiting.deliveries:,} deliveries, {waiting.emails:,} emails"
            print_text(f"{'Held' if is_off else 'Being sent'}: {numbers}.")
        if is_off:
            print_text(f"This instance sends nothing out. {how_to_send(settings)}")
        if put_off:
            print_text(
                f"Accounts that will be deleted in {DELETED_AFTER.days} days, unless an owner "
                f"cancels that: {', '.join(put_off)}."
            )


@click.command("copy-database")
@click.option(
    "--to",
    "target",
    required=True,
    metavar="URL",
    help="The empty target: sqlite:///… or postgresql://…",
)
@json_option
@add_examples("copy-database --to postgresql://canopy:secret@localhost/canopy")
@click.pass_context
@with_app
@errors_as_messages
def copy_database_(ctx: click.Context, target: str, as_json: bool) -> None:
    """Copy everything into another database and compare the two.

    From SQLite to PostgreSQL or back. The target must be empty. If a copy is interrupted, run
    the same command again. Changes made during the copy are not copied, so stop the service first.
    Afterwards, start it with DATABASE_URL set to the target.
    """
    settings = current_settings()
    other = _with_database(settings, target)
    begun_at = clock.format_time(clock.now())
    with ProgressBar("Copying and comparing", quiet=as_json) as bar:
        tables = copy_database(
            database_url(settings),
            database_url(other),
            make_schema=lambda: _make_schema(other),
            progress=bar.advance,
            started=bar.start,
        )
    is_equal = all(table.is_equal for table in tables)
    if as_json:
        names = {"from": shown_url(database_url(settings)), "to": shown_url(database_url(other))}
        records = [_comparison_record(table) for table in tables]
        show_json({**names, "begun_at": begun_at, "equal": is_equal, "tables": records})
    else:
        _show_comparison(tables, begun_at)
    ctx.exit(0 if is_equal else 1)


def _log_maintenance(action: str, path: Path, **others: str) -> None:
    with transaction():
        write_instance_entry(action, changes_of_new({"file": str(path.absolute()), **others}))


def _manifest_record(manifest: Manifest) -> dict[str, Any]:
    maker = describe_version(manifest.service_version, manifest.commit)
    return {
        "made_at": manifest.made_at,
        "made_by": f"Canopy {maker} on {manifest.database}",
        "schema_revision": manifest.schema_revision,
    }


def _show_changes(url: URL, manifest: Manifest, present: PresentData, settings: Settings) -> None:
    """Show on standard error what will be replaced."""
    before, after = present.rows, manifest.rows()
    print_text(f"The backup of {manifest.made_at} will replace {shown_url(url)}:", err=True)
    print_text(f"{'':10}{'now':>14}{'after':>14}", err=True)
    for name in _TABLES_SHOWN:
        print_text(f"{name:10}{before.get(name, 0):>14,}{after.get(name, 0):>14,}", err=True)
    _show_revisions(manifest.schema_revision, present)
    if not _has_same_key(manifest, settings):
        print_text(
            "The backup was made with another SECRET_KEY. To read what that key encrypted, such as "
            "webhook secrets, set SECRET_KEY_FORMER to it.",
            err=True,
        )


def _show_revisions(revision: str, present: PresentData) -> None:
    """Show what happens to the tables, if anything."""
    newest = revisions.newest_revision()
    if revision != newest:
        print_text(
            f"Its tables are of revision {revision}. They are migrated to {newest}.", err=True
        )
    if present.revision not in (None, newest):
        print_text(f"The present tables, of revision {present.revision}, are dropped.", err=True)
    if present.unknown:
        print_text(
            f"Those that this version does not know are dropped, too: {', '.join(present.unknown)}",
            err=True,
        )
    if present.revision is not None and {revision, present.revision} != {newest}:
        print_text("Stop the service first, on all hosts.", err=True)


def _has_same_key(manifest: Manifest, settings: Settings) -> bool:
    return manifest.secret_key_check == key_check(settings.secret_key)


def _with_database(settings: Settings, address: str) -> Settings:
    """Return these settings for another database. Raises BadParameter."""
    environ = {"INSTANCE_PATH": str(settings.instance_path), "SECRET_KEY": settings.secret_key}
    try:
        if address.strip() in ("", "sqlite:///", "sqlite:///:memory:"):
            raise SettingsError("must name a database, such as sqlite:////srv/canopy.sqlite3")
        others = load_settings({**environ, "DATABASE_URL": address})
    except SettingsError as error:
        message = str(error).removeprefix("DATABASE_URL ")
        raise click.BadParameter(message, param_hint="--to") from None
    return replace(settings, database_url=others.database_url)


def _make_schema(settings: Settings) -> None:
    target = create_application(settings)
    with target.app_context():
        try:
            upgrade()
        finally:
            db.engine.dispose()
            queries.reading_engine().dispose()


def _comparison_record(table: TableComparison) -> dict[str, Any]:
    return {
        "table": table.table,
        "equal": table.is_equal,
        "source": {"rows": table.source_rows, "sha256": table.source_sha256},
        "target": {"rows": table.target_rows, "sha256": table.target_sha256},
    }


def _show_comparison(tables: Sequence[TableComparison], begun_at: str) -> None:
    words = {True: "equal", False: "DIFFERENT"}
    show_table(
        ("table", "source rows", "target rows", "checksums"),
        (
            (table.table, table.source_rows, table.target_rows, words[table.is_equal])
            for table in tables
        ),
    )
    if all(table.is_equal for table in tables):
        print_text(
            f"\nAll rows as of {begun_at} are in the target. Start the service with DATABASE_URL "
            "set to it."
        )
    else:
        print_text("\nThe target differs: something may have written to it. Run the command again.")
