"""The audit log as the response of a request, streamed."""

from __future__ import annotations

from flask import Response, current_app

from app.audit.log.files import FORMATS, write_file
from app.audit.log.filters import EntryQuery
from app.audit.log.service import write_export_entry
from app.db.transactions import transaction
from app.downloads.files import ExportedFile, whole_file
from app.downloads.responses import stream_file
from app.values import clock


def file_response(account_id: str, format_name: str, query: EntryQuery) -> Response:
    """Log an export of the log, and stream a file with all entries that match a query.

    Args:
        format_name: one of ``FORMATS``.

    Raises:
        ServiceUnavailable: another export of the account is running, or there are too many.
    """
    app = current_app._get_current_object()  # type: ignore[attr-defined]

    def write(at_once: bool) -> ExportedFile:
        with transaction():
            write_export_entry(account_id, format_name, query)
        pieces = write_file(app, account_id, format_name, query)
        return whole_file(pieces, app) if at_once else ExportedFile(pieces, None)

    def name(slug: str) -> str:
        return f"{slug}-audit-log-{clock.now().date()}.{format_name}"

    return stream_file(account_id, write, FORMATS[format_name], name)
