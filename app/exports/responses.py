"""Streaming an export as a response."""

from __future__ import annotations

from functools import partial

from flask import Response, current_app, request

from app.api.expensive import client_check
from app.db.transactions import transaction
from app.downloads.files import ExportedFile
from app.downloads.responses import stream_file
from app.exports import service
from app.exports.service import Export
from app.formats.writers.formats import STREAMED
from app.policy.files import BINARY


def export_response(export: Export, account_name: str) -> Response:
    """Log an export, and stream its file, as bytes of any kind for clients that accept those
    first."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    check = client_check()

    def on_batch(_: int) -> None:
        """End the writing of a whole file when its client has gone; sending a streamed one fails
        then."""
        if export.format not in STREAMED:
            check()

    def write(at_once: bool) -> ExportedFile:
        return service.write_export(export, app, on_batch, at_once=at_once)

    is_binary = request.accept_mimetypes.best == BINARY
    media_type = BINARY if is_binary else export.media_type
    name = partial(service.export_filename, export=export)
    response = stream_file(export.account_id, write, media_type, name)
    with transaction():
        service.log_export(export, account_name)
    return response
