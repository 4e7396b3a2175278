"""Expensive work: one piece at a time in a process, and none for a client that has gone.

A process has few threads, and cheap requests need them too. So only a few expensive ones wait
briefly for their turn; any more are answered 503 at once.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Final, TypeVar

from flask import Flask, Response, g, has_request_context, request

from app.http.errors import ServiceUnavailable
from app.policy.bounds import (
    EXPENSIVE_BODY_BYTES,
    EXPENSIVE_RETRY_SECONDS,
    EXPENSIVE_WAIT_SECONDS,
    EXPENSIVE_WAITING,
)

T = TypeVar("T")

_queue: Final = threading.BoundedSemaphore(1 + EXPENSIVE_WAITING)
_turn: Final = threading.Lock()
_HAS_TURN: Final = "has_expensive_turn"
_UNTIL_THE_END: Final = "until_the_end"


def init_app(app: Flask) -> None:
    """End what lasts until the response is written. To be called before anything else registers an
    ``after_request`` function: Flask calls them in reverse order, so this one gets the response
    that is sent."""
    app.after_request(_end_with_response)
    app.teardown_request(_end_without_response)


@contextmanager
def expensive_work() -> Iterator[None]:
    """Do expensive work in this request's turn; outside of a request, at once.

    Raises:
        ServiceUnavailable: too many others are before this one, or the client has gone.
    """
    if not has_request_context() or _HAS_TURN in g:
        yield
        return
    with _take_turn():
        setattr(g, _HAS_TURN, True)
        try:
            yield
        finally:
            delattr(g, _HAS_TURN)


def reading_body() -> AbstractContextManager[None]:
    """Read the body of this request; in its turn, if the body is large.

    Raises, when it is entered:
        ServiceUnavailable: too many others are before this one, or the client has gone.
    """
    is_large = (request.content_length or 0) > EXPENSIVE_BODY_BYTES
    return expensive_work() if is_large else nullcontext()


def answer_in_turn() -> None:
    """Do the rest of this request in its turn, until all of its response is written: a large one is
    compressed meanwhile.

    Raises:
        ServiceUnavailable: too many others are before this one, or the client has gone.
    """
    if not has_request_context() or _HAS_TURN in g:
        return
    until_the_end(_take_turn())
    setattr(g, _HAS_TURN, True)


def until_the_end(context: AbstractContextManager[T]) -> T:
    """Enter a context that is left when all of this request's response is written, or its client
    has gone. Those entered last are left first."""
    if _UNTIL_THE_END not in g:
        setattr(g, _UNTIL_THE_END, ExitStack())
    stack: ExitStack = g.get(_UNTIL_THE_END)
    return stack.enter_context(context)


def client_check() -> Callable[[], None]:
    """Return a function that raises ServiceUnavailable if the client of this request, or the proxy
    in front, has closed the connection. Long work calls it, also after the request's context.
    """
    connection = request.environ.get("gunicorn.socket")

    def check() -> None:
        if isinstance(connection, socket.socket) and _is_closed(connection):
            raise ServiceUnavailable("The client has closed the connection.")

    return check


def _end_with_response(response: Response) -> Response:
    if (stack := g.pop(_UNTIL_THE_END, None)) is not None:
        response.call_on_close(stack.close)
    return response


def _end_without_response(_: BaseException | None) -> None:
    if (stack := g.pop(_UNTIL_THE_END, None)) is not None:
        stack.close()


@contextmanager
def _take_turn() -> Iterator[None]:
    with _place_in_queue():
        if not _turn.acquire(timeout=EXPENSIVE_WAIT_SECONDS):
            raise _too_many()
        try:
            client_check()()
            yield
        finally:
            _turn.release()


@contextmanager
def _place_in_queue() -> Iterator[None]:
    if not _queue.acquire(blocking=False):
        raise _too_many()
    try:
        yield
    finally:
        _queue.release()


def _too_many() -> ServiceUnavailable:
    message = "Too many large requests are being processed. Try again shortly."
    return ServiceUnavailable(message, retry_after=EXPENSIVE_RETRY_SECONDS)


def _is_closed(connection: socket.socket) -> bool:
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:  # nothing was sent after the request
        return False
    except OSError:
        return True
