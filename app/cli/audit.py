"""``bin/canopy audit``: verifying and exporting the audit log."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Final

import click

from app.account.lookup import find_account
from app.audit.log.checkpoints import list_checkpoints
from app.audit.log.files import write_file
from app.audit.log.filters import EntryQuery
from app.audit.log.service import verify_account, write_export_entry
from app.audit.proof.checkpoint import Checkpoint, read_kept, read_public_key
from app.audit.proof.findings import Finding
from app.audit.proof.verification import LONGEST_LINE, Verifier, verify_lines
from app.cli.context import database_command, in_database, running_app
from app.cli.group import Commands
from app.cli.output import (
    CommandError,
    add_examples,
    confirm_action,
    json_option,
    output_file,
    output_option,
    print_text,
    show_json,
    show_record,
    show_records,
    yes_option,
)
from app.db.transactions import transaction
from app.policy.audit import INSTANCE
from app.settings.current import current_settings
from app.values.ids import is_id

_SHOWN: Final = 1_000  # findings
_ALL: Final = 1_000_000_000  # checkpoints
_OWN_KEYS: Final = (
    "The file names its keys itself, and whoever made it may have made them, too: compare them\n"
    "with those of the instance, or name those with --key."
)
_Trusted = tuple[Sequence[str], Sequence[Checkpoint]]  # public keys, kept checkpoints
_COLUMNS: Final = ("number", "first", "last", "sealed_at", "hash", "key_id")
_log_option = click.option(
    "--account",
    required=True,
    metavar="ACCOUNT",
    help=f"Id or slug of the account; {INSTANCE} is the log of the instance.",
)


audit = Commands("audit", help="Verify and export the audit log of an account.")


@audit.command("verify")
@click.argument(
    "path", metavar="[FILE]", required=False, type=click.Path(path_type=Path, allow_dash=True)
)
@click.option(
    "--account",
    metavar="ACCOUNT",
    help=f"Verify the database instead of a file; {INSTANCE} is the log of the instance.",
)
@click.option(
    "--checkpoints",
    "kept",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Checkpoints of an earlier time that you kept: the log must still have them.",
)
@click.option(
    "--key", "keys", multiple=True, metavar="KEY", help="The public key that you trust, in base64."
)
@click.option(
    "--days",
    type=click.IntRange(min=1),
    help="For how many days entries must have been kept; with --account, AUDIT_DAYS.",
)
@json_option
@add_examples(
    "audit verify audit-log.ndjson",
    "audit verify audit-log.ndjson --checkpoints kept.json --days 744 "
    "--key 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "audit verify --account green-woods",
)
@click.pass_context
def verify_log_command(
    ctx: click.Context,
    path: Path | None,
    account: str | None,
    kept: Path | None,
    keys: tuple[str, ...],
    days: int | None,
    as_json: bool,
) -> None:
    """Verify that an audit log is as it was sealed.

    FILE is an export (bin/canopy audit export, or GET /v1/audit-log?format=ndjson without filters);
    - is standard input. To verify a file, neither the service nor its settings are needed.

    Without --key, the keys that the log names are trusted. Without --checkpoints, a log whose end
    was removed cannot be told from one that ends there. Without --days, a file cannot show that old
    entries were deleted too early. The exit code is 1 if there is a problem.
    """
    if (path is None) == (account is None):
        raise click.UsageError("Name a FILE or an --account.")
    trusted = _trusted_anchors(keys, kept)
    if path is not None:
        verifier = Verifier(*trusted, days)
        with _open_input(path) as file:
            findings = verify_lines(_bounded_lines(file), verifier)
            problems = _show_findings(findings, verifier, as_json=as_json)
        if not (keys or as_json):
            print_text(_OWN_KEYS)
    else:
        problems = in_database(_verify_database)(account, trusted, days, as_json)
    ctx.exit(1 if problems else 0)


@audit.command("export")
@_log_option
@output_option
@click.option(
    "--format",
    "format_name",
    type=click.Choice(("ndjson", "csv")),
    default="ndjson",
    help="By default ndjson, which can be verified.",
)
@yes_option
@database_command(
    "audit export --account green-woods --output audit-log.ndjson",
    "audit export --account green-woods --format csv --output audit-log.csv",
)
def export_log_command(
    account: str, path: Path, format_name: str, yes: bool, as_json: bool
) -> None:
    """Export an audit log to a file.

    The log gets an entry about it. Only the owner of FILE can read it. FILE is complete or not
    there.
    """
    account_id = _account_id(account)
    is_file = str(path) != "-"
    if is_file and path.exists():
        confirm_action(f"Replace {path}?", yes=yes, as_json=as_json)
    with output_file(path) as file:
        with transaction():
            write_export_entry(account_id, format_name, EntryQuery())
        with closing(write_file(running_app(), account_id, format_name, EntryQuery())) as pieces:
            file.writelines(pieces)
    if is_file:
        size = path.stat().st_size
        record = {"file": str(path.absolute()), "format": format_name, "bytes": size}
        show_record(record, as_json=as_json)


@audit.command("checkpoints")
@_log_option
@database_command("audit checkpoints --account green-woods --json | tee kept.json")
def list_checkpoints_command(account: str, as_json: bool) -> None:
    """List the checkpoints of an audit log, the newest first.

    Keep them where nobody who can change the database can change them.
    """
    records, _ = list_checkpoints(_account_id(account), 1, _ALL)
    show_records(records, _COLUMNS, as_json=as_json, none="There are no checkpoints yet.")


def _verify_database(account: str, trusted: _Trusted, days: int | None, as_json: bool) -> int:
    verifier = Verifier(*trusted, days or current_settings().audit_days)
    findings = verify_account(running_app(), _account_id(account), verifier)
    return _show_findings(findings, verifier, as_json=as_json)


def _account_id(account: str) -> str:
    """Return the id of an account, which may be deleted, or of the instance's log."""
    if account == INSTANCE or is_id("account", account):
        return account
    account_id: str = find_account(account).id
    return account_id


def _trusted_anchors(keys: Sequence[str], kept: Path | None) -> _Trusted:
    try:
        for key in keys:
            read_public_key(key)
        return keys, read_kept(kept.read_bytes()) if kept else ()
    except OSError as error:
        raise CommandError(f"{kept} cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError) as error:
        raise CommandError(f"--key or --checkpoints cannot be used: {error}.") from None


def _show_findings(findings: Iterable[Finding], verifier: Verifier, *, as_json: bool) -> int:
    """Print the findings. Returns the number of problems."""
    problems, first = 0, list[Finding]()
    for finding in findings:
        problems += finding.is_problem
        if len(first) < _SHOWN:
            first.append(finding)
            if not as_json:
                print_text(f"{'problem' if finding.is_problem else 'note':<7}  {finding}")
    summary = {
        "account_id": verifier.account_id,
        "checkpoints": verifier.checkpoints,
        "entries": verifier.entries,
        "keys": verifier.keys,
        "problems": problems,
    }
    if as_json:
        show_json(summary | {"findings": [finding.record() for finding in first]})
        return problems
    if verifier.account_id is not None:
        print_text(f"log      {verifier.account_id}")
    for key_id, key in verifier.keys.items():
        print_text(f"key      {key_id} {key}")
    print_text(
        f"\nEntries: {verifier.entries:,}. Checkpoints: {verifier.checkpoints:,}. "
        f"Problems: {f'{problems:,}' if problems else 'none'}."
    )
    return problems


@contextmanager
def _open_input(path: Path) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        with path.open("rb") as file:
            yield file
    except BrokenPipeError:  # of standard output
        raise
    except OSError as error:
        raise CommandError(f"{path} cannot be read ({error.strerror}).") from None


def _bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file. Lines longer than an export has are cut."""
    while line := file.readline(LONGEST_LINE):
        yield line
