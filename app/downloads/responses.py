"""A file as the response of a request, streamed."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import chain
from typing import Final

from flask import Response, current_app, request
from sqlalchemy import bindparam, select

from app.api.expensive import until_the_end
from app.api.requests import request_id
from app.db import queries
from app.db.queries import CompiledQuery
from app.downloads.access import while_allowed
from app.downloads.files import ExportedFile
from app.downloads.slots import export_slot
from app.http.errors import ApiError
from app.models import Account
from app.policy.audit import INSTANCE
from app.policy.files import EXPORT_HELD_BYTES, EXPORT_SECONDS
from app.processes.web_server.response_buffer import pace_response

log = logging.getLogger(__name__)

_SLUG: Final = CompiledQuery(select(Account.slug).where(Account.id == bindparam("account_id")))


def stream_file(
    account_id: str,
    write: Callable[[bool], ExportedFile],
    content_type: str,
    name: Callable[[str], str],
) -> Response:
    """A file of an account, or of the instance, a piece at a time. The first is there before the
    response begins, so that what fails until then is an error response; what fails later ends the
    connection, as does that whoever asked for it may no longer have it, which the log then says.

    Args:
        write: begins the file. It is told whether all of it has to be there when it returns.
        name: the name of the file, by the slug of the account, or ``instance``.

    Raises:
        ServiceUnavailable: the account has another export that is running, or there are too many.
    """
    slot = until_the_end(ExitStack())
    threads = current_app.config["SETTINGS"].web_threads
    slot.enter_context(export_slot(account_id, threads))
    slug = INSTANCE if account_id == INSTANCE else _SLUG.first(account_id=account_id).slug
    queries.release()  # each query of an export has a connection of its own
    # A response without a length ends with its connection in HTTP/1.0, whatever the reason.
    pieces, size = write(request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0")
    until_the_end(closing(pieces))
    first = next(pieces, b"")
    pace_response(EXPORT_HELD_BYTES, EXPORT_SECONDS)
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    allowed = _until_refused(while_allowed(chain([first], pieces), app), request_id())
    body = _then_last(allowed, slot.close)
    response = Response(body, content_type=content_type)
    if size is not None:
        response.content_length = size
    response.headers["Content-Disposition"] = f'attachment; filename="{name(slug)}"'
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _until_refused(pieces: Iterator[bytes], own_id: str) -> Iterator[bytes]:
    """The pieces, until one is refused. The connection breaks off then, so that no client takes
    what it has for the whole file: to the web server, that is as if the client had gone.

    Args:
        own_id: of the request, for the log.
    """
    try:
        yield from pieces
    except ApiError as refusal:
        fields = {"request_id": own_id}
        log.info("an export ended early: %s", refusal.message, extra={"fields": fields})
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None


def _then_last(pieces: Iterator[bytes], do: Callable[[], None]) -> Iterator[bytes]:
    """The pieces, with something done before the last one: a client that has read it can begin its
    next export."""
    last = next(pieces)
    for piece in pieces:
        yield last
        last = piece
    do()
    yield last
