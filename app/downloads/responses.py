"""Streaming a file as a response.

Each export holds a thread of the web server until its client has read it, so their number is
limited. An account that finds no place is next when it asks again, and a client that reads slowly
gives way to it. A file ends early when its caller loses access.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import chain
from typing import Final

from flask import Flask, Response, current_app, request
from sqlalchemy import bindparam, select

from app.api.expensive import TURNS, until_the_end, without_turn
from app.api.requests import request_id
from app.db import queries
from app.db.queries import CompiledQuery
from app.downloads.files import ExportedFile
from app.formats.writers.source import BLOCK
from app.http.errors import ApiError, ServiceUnavailable
from app.models import Account
from app.policy.audit import INSTANCE
from app.policy.files import (
    EXPORT_CHECK_SECONDS,
    EXPORT_HELD_BYTES,
    EXPORT_RETRY_SECONDS,
    EXPORT_SECONDS,
    EXPORT_TURN_SECONDS,
    EXPORT_WAIT_SECONDS,
    EXPORTS_AT_ONCE,
)
from app.policy.request_limits import EXPENSIVE_WAITING
from app.processes.web_server.response_buffer import pace_response
from app.settings.current import current_settings
from app.site.access_check import access_check

log = logging.getLogger(__name__)

_SLUG: Final = CompiledQuery(select(Account.slug).where(Account.id == bindparam("account_id")))
_lock: Final = threading.Lock()
_running: Final[dict[str, float]] = {}  # accounts with an export, and when it began
_refused: Final[dict[str, float]] = {}  # those that wait for a place, and when they last asked


def stream_file(
    account_id: str,
    write: Callable[[bool], ExportedFile],
    content_type: str,
    name: Callable[[str], str],
) -> Response:
    """Stream a file of an account, or of the instance.

    An error before the first piece is an error response. A later error ends the connection, and so
    does the loss of access, which is logged.

    Args:
        write: begins the file. Its argument is True if the file must be complete when it returns.
        name: returns the name of the file for the slug of the account, or for ``instance``.

    Raises:
        ServiceUnavailable: another export of the account is running, or too many others.
    """
    slot = until_the_end(ExitStack())
    threads = current_settings().web_threads
    slot.enter_context(export_slot(account_id, threads))
    without_turn()
    slug = INSTANCE if account_id == INSTANCE else _SLUG.first(account_id=account_id).slug
    queries.release_connection()  # each query of an export takes its own connection
    # A response without a length ends with its connection in HTTP/1.0, whatever the reason.
    pieces, size = write(request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0")
    until_the_end(closing(pieces))
    first = next(pieces, b"")
    pace_response(EXPORT_HELD_BYTES, EXPORT_SECONDS)
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    lasting = _with_access(_in_blocks(chain([first], pieces)), app, account_id)
    checked = _break_without_access(lasting, request_id())
    body = _before_last(checked, slot.close)
    response = Response(body, content_type=content_type)
    if size is not None:
        response.content_length = size
    response.headers["Content-Disposition"] = f'attachment; filename="{name(slug)}"'
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _in_blocks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces in parts of at most ``BLOCK`` bytes, so that a slow client is checked as
    often as others."""
    for piece in pieces:
        for start in range(0, len(piece) or 1, BLOCK):
            yield piece[start : start + BLOCK]


def _break_without_access(pieces: Iterator[bytes], own_id: str) -> Iterator[bytes]:
    """Yield the pieces until the caller loses access. Then break the connection, so that the client
    does not mistake its part for the whole file.

    Args:
        own_id: the id of the request, for the log.
    """
    try:
        yield from pieces
    except ApiError as refusal:
        fields = {"request_id": own_id}
        log.info("an export ended early: %s", refusal.message, extra={"fields": fields})
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None


def _before_last(pieces: Iterator[bytes], call: Callable[[], None]) -> Iterator[bytes]:
    """Yield the pieces, and call ``call`` before the last, so that a client that has read it can
    begin its next export."""
    last = next(pieces)
    for piece in pieces:
        yield last
        last = piece
    call()
    yield last


@contextmanager
def export_slot(account_id: str, threads: int) -> Iterator[None]:
    """Reserve the place of an account's export. Places go to accounts in the order in which they
    asked first, as long as they ask again.

    Args:
        threads: the threads of the process, one of which is kept free.

    Raises:
        ServiceUnavailable: the process runs another export of the account, or too many others.
    """
    with _lock:
        now = time.monotonic()
        waiting = _waiting_accounts(now)
        place = waiting.index(account_id) if account_id in waiting else len(waiting)
        most = min(EXPORTS_AT_ONCE, max(1, threads - 1))
        if account_id in _running or len(_running) + place >= most:
            if account_id not in _running:
                _refused[account_id] = now
            message = "Another export is running. Try again when it is done."
            raise ServiceUnavailable(message, retry_after=EXPORT_RETRY_SECONDS)
        _refused.pop(account_id, None)
        _running[account_id] = now
        _leave_threads(threads)
    try:
        yield
    finally:
        with _lock:
            _running.pop(account_id, None)
            _leave_threads(threads)


def _leave_threads(threads: int) -> None:
    """Let fewer expensive requests wait while exports hold threads, so that one stays free beside
    the one that runs. The lock is held."""
    spare = max(0, threads - EXPENSIVE_WAITING - 2)
    TURNS.places = EXPENSIVE_WAITING - max(0, len(_running) - spare)


def _waiting_accounts(now: float) -> list[str]:
    """Return the accounts that wait for a place, in their order. The lock is held."""
    for account_id, asked_at in list(_refused.items()):
        if asked_at + EXPORT_WAIT_SECONDS < now:
            del _refused[account_id]
    return list(_refused)


def _give_way(account_id: str) -> None:
    """Raise ServiceUnavailable for the export that began first, if it has had its turn and another
    account waits."""
    with _lock:
        now = time.monotonic()
        began_at = _running.get(account_id, now)
        is_over = now - began_at >= EXPORT_TURN_SECONDS and began_at == min(_running.values())
        if is_over and _waiting_accounts(now):
            raise ServiceUnavailable("It took long, and another account waits for its export.")


def _with_access(pieces: Iterator[bytes], app: Flask, account_id: str) -> Iterator[bytes]:
    """Yield the pieces of a file while the caller of this request has access.

    Raises, instead of a later piece or at the end:
        Unauthorized: their key or token is revoked or has expired.
        Forbidden: they have signed out, are no longer a member, or may do less than before.
        ServiceUnavailable: it gives way to another account.
    """
    check = access_check()

    def checked() -> Iterator[bytes]:
        due = time.monotonic() + EXPORT_CHECK_SECONDS
        for piece in pieces:
            if time.monotonic() >= due:
                _give_way(account_id)
                with app.app_context():
                    check()
                due = time.monotonic() + EXPORT_CHECK_SECONDS
            yield piece
        # Once the deletion of an account has begun, its rows soon go, and a file must not look
        # complete without them.
        with app.app_context():
            check()

    return checked()
