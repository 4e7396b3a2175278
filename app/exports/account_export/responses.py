"""Streaming the archive of an account as a response."""

from __future__ import annotations

from collections.abc import Callable

from flask import Response, current_app

from app.account.lookup import read_account
from app.api.expensive import client_check
from app.downloads.files import ExportedFile
from app.downloads.responses import stream_file
from app.exports.account_export.json_files import ExportedAccount
from app.exports.account_export.service import archive_filename, write_archive
from app.http.urls import absolute_url
from app.policy.files import BINARY


def archive_response(account_id: str, log_export: Callable[[], None]) -> Response:
    """Stream the archive of an account.

    Args:
        log_export: logs the export in the audit log, which the archive contains, and commits.

    Raises:
        ServiceUnavailable: another export of the account runs, or there are too many.
    """
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    check = client_check()
    account = ExportedAccount(account_id, read_account(account_id)["slug"], absolute_url(""))

    def write(at_once: bool) -> ExportedFile:
        log_export()
        # A streamed archive needs no check: sending fails when the client has gone.
        on_batch = (lambda _name, _records: check()) if at_once else (lambda _name, _records: None)
        return write_archive(account, app, on_batch, at_once=at_once)

    return stream_file(account_id, write, BINARY, archive_filename)
