"""The archive of an account."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import orjson
from flask import Flask

from app.account.members.service import list_members
from app.audit.entries import write_read_entry
from app.audit.targets import Target
from app.downloads.files import ExportedFile, whole_file
from app.exports.account_export.contents import CONTENTS
from app.exports.account_export.json_files import AccountReader, ExportedAccount
from app.exports.account_export.readme import readme_text
from app.exports.account_export.zip_stream import ZipStream
from app.formats.writers.source import byte_blocks
from app.http.errors import Conflict
from app.policy.account_export import FORMAT, FORMAT_VERSION, MANIFEST, README
from app.values import clock
from app.values.text import slugify
from app.values.version import VERSION

OnBatch = Callable[[str, int], None]


def log_account_export(account_id: str, account_name: str) -> None:
    """Log the export of an account in the audit log, in the current transaction."""
    target = Target("account", account_id, account_name)
    write_read_entry("account.exported", target, account_id=account_id)


def write_archive(
    account: ExportedAccount,
    app: Flask,
    on_batch: OnBatch = lambda _name, _records: None,
    *,
    at_once: bool = False,
) -> ExportedFile:
    """The archive of an account, a zip that is written while its pieces are read.

    Args:
        app: provides a context for each query, so that the pieces need none.
        on_batch: called with the name of a file and the number of records of each batch, and with 0
            when the file begins; an error that it raises ends the export.
        at_once: write the archive to an unnamed file before returning.

    Raises:
        ServiceUnavailable: there is no room for the file.
    """
    pieces = byte_blocks(_archive_pieces(account, app, on_batch))
    return whole_file(pieces, app) if at_once else ExportedFile(pieces, None)


def archive_filename(slug: str) -> str:
    """The name of an archive, such as ``green-woods-2026-11-23.zip``."""
    return f"{slugify(slug)}-{clock.now().date()}.zip"


def _archive_pieces(account: ExportedAccount, app: Flask, on_batch: OnBatch) -> Iterator[bytes]:
    moment = clock.now()
    made_at, archive = clock.format_time(moment), ZipStream(moment)
    text = readme_text(account, made_at).encode()
    files = [(yield from archive.add(README, [text])) | {"records": None}]
    for name, content in CONTENTS.items():
        on_batch(name, 0)
        _check_exists(account, app)
        reader = AccountReader(app, account.id, partial(on_batch, name))
        written = yield from archive.add(name, byte_blocks(content(reader)))
        files.append(written | {"records": reader.records})
    _check_exists(account, app)
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "made_at": made_at,
        "made_by": f"Canopy {VERSION}",
        "instance": account.instance,
        "account": {"id": account.id, "slug": account.slug},
        "files": files,
    }
    text = orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    yield from archive.add(MANIFEST, [text])
    yield archive.end()


def _check_exists(account: ExportedAccount, app: Flask) -> None:
    """Raise Conflict once the deletion of the account has begun: its data may be incomplete."""
    with app.app_context():
        if not list_members(account.id):  # deleted first
            raise Conflict(
                "account_being_deleted",
                "account",
                "The account is being deleted, so it can no longer be exported.",
            )
