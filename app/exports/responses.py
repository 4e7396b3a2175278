"""An export as the response of a request, streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import chain

from flask import Response, current_app, request

from app.account.service import read_account
from app.api.expensive import client_check, until_the_end
from app.db import queries
from app.exports import service
from app.exports.service import Export
from app.exports.slots import export_slot
from app.formats.writers.formats import STREAMED
from app.policy.files import EXPORT_HELD_BYTES, EXPORT_SECONDS, FORMATS_OUT
from app.web_server.response_buffer import pace_response


def file_response(export: Export) -> Response:
    """The file, a piece at a time. The first is there before the response begins, so that what
    fails until then is an error response; what fails later ends the connection."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    slot = until_the_end(ExitStack())
    slot.enter_context(export_slot(export.account_id, app.config["SETTINGS"].web_threads))
    slug = read_account(export.account_id)["slug"]
    queries.release()  # each query of an export has a connection of its own
    # A response without a length ends with its connection in HTTP/1.0, whatever the reason.
    at_once = request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0"
    pieces, size = service.write_export(export, app, _client_check(export), at_once=at_once)
    until_the_end(closing(pieces))
    first = next(pieces, b"")
    pace_response(EXPORT_HELD_BYTES, EXPORT_SECONDS)
    body = _then_last(chain([first], pieces), slot.close)
    response = Response(body, content_type=FORMATS_OUT[export.format][0])
    if size is not None:
        response.content_length = size
    name = service.filename(slug, export.kind, export.format)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _then_last(pieces: Iterator[bytes], do: Callable[[], None]) -> Iterator[bytes]:
    """The pieces, with something done before the last one: a client that has read it can begin its
    next export."""
    last = next(pieces)
    for piece in pieces:
        yield last
        last = piece
    do()
    yield last


def _client_check(export: Export) -> Callable[[int], None]:
    """Ends the writing of a whole file when its client has gone. Where each piece is sent at once,
    sending fails then."""
    check = client_check()
    return (lambda _: None) if export.format in STREAMED else (lambda _: check())
