"""Expensive work: one piece at a time in a process, by turns of accounts, not for clients that have
gone, and with a limit of time for each request.

A process has few threads, and cheap requests need them too. So only a few expensive ones wait
briefly for their turn; others get 503 at once. Work that is known to be expensive takes a turn
first; any other request does so once it has used EXPENSIVE_AFTER_SECONDS of processor time, and
ends after REQUEST_SECONDS. Both start again with each piece of a stream.
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, Final, TypeVar

from flask import Flask, Response, g, has_request_context, request

from app.auth.guard import current_principal
from app.db.extensions import db
from app.http.errors import BadRequest, Detail, ServiceUnavailable
from app.policy.request_limits import (
    EXPENSIVE_AFTER_SECONDS,
    EXPENSIVE_BODY_BYTES,
    EXPENSIVE_RETRY_SECONDS,
    EXPENSIVE_WAIT_SECONDS,
    EXPENSIVE_WAITING,
    REQUEST_SECONDS,
)
from app.processes.web_server.response_buffer import note_expensive
from app.values import processor_clock
from app.values.processor_clock import ProcessorClock

T = TypeVar("T")

_HAS_TURN: Final = "has_expensive_turn"
# Parameters that narrow a request, the most effective first.
_NARROWING: Final = ("filter", "search", "bbox", "datetime", "limit", "per_page")


class Turns:
    """One turn, and the requests that wait for it.

    The account that had it last comes last. If many wait, the account with most of them gives way
    to one with fewer.

    Attributes:
        places: the most requests that wait; fewer while other work holds threads.
    """

    def __init__(self) -> None:
        self.places = EXPENSIVE_WAITING
        self._lock = threading.Lock()
        self._running: str | None = None
        self._last: str | None = None
        self._waiting: list[_Waiting] = []

    @property
    def is_taken(self) -> bool:
        return self._running is not None

    @property
    def waiting(self) -> int:
        """The number of waiting requests."""
        return len(self._waiting)

    def take(self, account: str, seconds: float) -> bool:
        """Wait for the turn, for ``seconds`` at most. Returns False without it."""
        with self._lock:
            if self._running is None:
                self._running = account
                return True
            own = _Waiting(account)
            if not seconds or not self._has_place(account):
                return False
            self._waiting.append(own)
        own.is_over.wait(seconds)
        with self._lock:
            if own in self._waiting:
                self._waiting.remove(own)
            return own.has_turn

    def end(self) -> None:
        """Give the turn to a waiting request."""
        with self._lock:
            self._last, self._running = self._running, None
            of_others = [queued for queued in self._waiting if queued.account != self._last]
            for following in (of_others or self._waiting)[:1]:
                self._waiting.remove(following)
                self._running = following.account
                following.has_turn = True
                following.is_over.set()

    def _has_place(self, account: str) -> bool:
        """True if a request of an account may wait, perhaps in place of another one."""
        if len(self._waiting) < self.places:
            return True
        requests = Counter([self._running, *(queued.account for queued in self._waiting)])
        for waiting in reversed(self._waiting):
            if requests[waiting.account] > requests[account] + 1:
                self._waiting.remove(waiting)
                waiting.is_over.set()
                return True
        return not self._waiting and account != self._running  # without places, one of others


class _Waiting:
    """A request that waits for its turn."""

    def __init__(self, account: str) -> None:
        self.account = account
        self.is_over = threading.Event()
        self.has_turn = False


TURNS: Final = Turns()


class _RequestClock(ProcessorClock):
    """The clock of a request, with the contexts that end when its response is written."""

    def __init__(self) -> None:
        super().__init__((EXPENSIVE_AFTER_SECONDS, answer_in_turn), (REQUEST_SECONDS, _refuse_long))
        self.until_the_end: ExitStack | None = None


def init_app(app: Flask) -> None:
    """Start the clock of each request, and end its contexts when the response is written.

    Call it before other functions for requests and responses are registered: Flask calls those for
    responses in reverse order, and this one needs the final response.
    """
    app.before_request(_begin_expensive_request)
    app.after_request(_end_with_response)
    app.teardown_request(_end_without_response)


@contextmanager
def expensive_work() -> Iterator[None]:
    """Do expensive work in the turn of this request; without a request, at once.

    Raises:
        ServiceUnavailable: too many requests are waiting, or the client has gone.
    """
    if not has_request_context() or _HAS_TURN in g:
        yield
        return
    with _wait_for_turn():
        setattr(g, _HAS_TURN, True)
        try:
            yield
        finally:
            delattr(g, _HAS_TURN)


def reading_body() -> AbstractContextManager[None]:
    """Read the body of this request; in its turn, if the body is large.

    Raises, when it is entered:
        ServiceUnavailable: too many requests are waiting, or the client has gone.
    """
    is_large = (request.content_length or 0) > EXPENSIVE_BODY_BYTES
    return expensive_work() if is_large else nullcontext()


def answer_in_turn() -> None:
    """Do the rest of this request in its turn, until its response is written, because it is
    compressed then. A request that holds locks does not wait.

    Raises:
        ServiceUnavailable: too many requests are waiting, or the client has gone.
    """
    if not has_request_context() or _HAS_TURN in g:
        return
    until_the_end(_wait_for_turn())
    without_turn()


def without_turn() -> None:
    """Do the rest of this request without taking a turn: it has one, or another process works."""
    setattr(g, _HAS_TURN, True)


def until_the_end(context: AbstractContextManager[T]) -> T:
    """Enter a context that is left when the response is written, or its client has gone.

    Those entered last are left first.
    """
    clock = processor_clock.current()
    assert isinstance(clock, _RequestClock)
    if clock.until_the_end is None:
        clock.until_the_end = ExitStack()
    return clock.until_the_end.enter_context(context)


def client_check() -> Callable[[], None]:
    """Return a function that raises ServiceUnavailable if the client of this request, or the proxy
    in front, has closed the connection. Long work calls it, also after the request's context.
    """
    connection = request.environ.get("gunicorn.socket")

    def check() -> None:
        if isinstance(connection, socket.socket) and _is_closed(connection):
            raise ServiceUnavailable("The client has closed the connection.")

    return check


class _Stream:
    """The pieces of a response, each with its own processor time."""

    def __init__(self, pieces: Any, clock: ProcessorClock) -> None:
        self._pieces, self._clock = pieces, clock
        self._rest = iter(pieces)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._clock.restart()
        with processor_clock.running(self._clock):
            return next(self._rest)

    def close(self) -> None:
        if hasattr(self._pieces, "close"):
            self._pieces.close()


def _begin_expensive_request() -> None:
    processor_clock.begin(_RequestClock())


def _end_with_response(response: Response) -> Response:
    clock = processor_clock.current()
    if isinstance(clock, _RequestClock):
        if response.is_streamed and not response.direct_passthrough:
            response.response = _Stream(response.response, clock)
        if clock.until_the_end is not None:
            response.call_on_close(clock.until_the_end.close)
            clock.until_the_end = None
    return response


def _end_without_response(_: BaseException | None) -> None:
    clock = processor_clock.current()
    if isinstance(clock, _RequestClock) and clock.until_the_end is not None:
        clock.until_the_end.close()
    processor_clock.end()


def _refuse_long() -> None:
    """Raise the error for a request that has used all of its time."""
    if has_request_context() and request.method in ("GET", "HEAD"):
        names = [name for name in _NARROWING if name in request.args]
        message = (
            "This takes too long to find. Ask for less: a smaller area, a longer or simpler text, "
            "fewer conditions or fewer records."
        )
        raise BadRequest(message, details=[Detail(name, message, "invalid") for name in names[:1]])
    message = "This takes too long. Send less per request, or try again later."
    raise ServiceUnavailable(message, retry_after=EXPENSIVE_RETRY_SECONDS)


@contextmanager
def _wait_for_turn() -> Iterator[None]:
    note_expensive()
    holds_up_others = db.session.registry.has() and db.session().in_transaction()
    if not TURNS.take(_turn_owner(), 0.0 if holds_up_others else EXPENSIVE_WAIT_SECONDS):
        message = "Too many large requests are being processed. Try again shortly."
        raise ServiceUnavailable(message, retry_after=EXPENSIVE_RETRY_SECONDS)
    try:
        client_check()()
        yield
    finally:
        TURNS.end()


def _turn_owner() -> str:
    """The account of this request; else the person, or the client's address."""
    caller: Any = current_principal() or g.get("person")
    for name in ("account_id", "user_id"):
        if account_id := getattr(caller, name, None):
            return str(account_id)
    return request.remote_addr or ""


def _is_closed(connection: socket.socket) -> bool:
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:  # nothing was sent after the request
        return False
    except OSError:
        return True
