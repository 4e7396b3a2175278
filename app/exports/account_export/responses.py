"""Streaming the archive of an account as a response."""

from __future__ import annotations

from flask import Response, current_app

from app.account.lookup import read_account
from app.api.expensive import client_check
from app.db.transactions import transaction
from app.downloads.files import ExportedFile
from app.downloads.responses import stream_file
from app.exports.account_export.json_files import ExportedAccount
from app.exports.account_export.service import (
    archive_filename,
    log_account_export,
    write_archive,
)
from app.http.urls import absolute_url
from app.policy.files import BINARY


def archive_response(account_id: str) -> Response:
    """Log an export of an account, and stream its archive, which contains the entry.

    Raises:
        ServiceUnavailable: another export of the account runs, or there are too many.
    """
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    check = client_check()
    record = read_account(account_id)
    account = ExportedAccount(account_id, record["slug"], absolute_url(""))

    def write(at_once: bool) -> ExportedFile:
        with transaction():
            log_account_export(account_id, record["name"])
        # A streamed archive needs no check: sending fails when the client has gone.
        on_batch = (lambda _name, _records: check()) if at_once else (lambda _name, _records: None)
        return write_archive(account, app, on_batch, at_once=at_once)

    return stream_file(account_id, write, BINARY, archive_filename)
