"""Resolving names within a deadline."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue

from app.outbound.attempt import EgressError
from app.policy.deliveries import FailureReason
from app.policy.egress import HUNG_FOR, LOOKUP_HANGS, LOOKUPS, LOOKUPS_OF_HUNG
from app.values.deadline import Deadline

Resolve = Callable[
    [str], Sequence[str]
]  # the addresses of a name; raises OSError if there are none


def resolve_name(host: str) -> list[str]:
    """The addresses of a name, from the system's resolver.

    Raises:
        OSError: there are none.
    """
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class _Lookup:
    def __init__(self, host: str, deadline: Deadline, *, is_suspect: bool) -> None:
        self.host = host
        self.deadline = deadline  # the latest of all callers
        self.is_suspect = is_suspect  # its name hung recently, or hangs now
        self.begun_at: float | None = None  # when a thread began it
        self.found: Future[Sequence[str]] = Future()

    def hangs(self) -> bool:
        """True if it takes, or took, too long, not counting the wait for a thread."""
        return self.begun_at is not None and time.monotonic() - self.begun_at >= LOOKUP_HANGS


class Lookups:
    """Lookups in threads of their own, since the system's resolver has no timeout.

    A name is looked up once at a time, however many callers wait for it. A lookup that hangs keeps
    its thread until the system gives up (glibc after 10 seconds for each name server, or as
    RES_OPTIONS says); its name gets no second thread meanwhile. Names that hung recently share a
    part of the threads, so that others are not delayed. When all threads are busy, lookups wait,
    and time out.
    """

    def __init__(
        self, resolve: Resolve, most: int = LOOKUPS, most_of_hung: int = LOOKUPS_OF_HUNG
    ) -> None:
        """
        Args:
            most: maximum number of threads.
            most_of_hung: of these, for names that hung recently.
        """
        self._resolve = resolve
        self._most = most
        self._most_of_hung = most_of_hung
        self._threads = 0
        self._suspects = 0  # lookups of names that hung, without those held
        self._lock = threading.Lock()
        self._running: dict[str, _Lookup] = {}
        self._held: deque[_Lookup] = deque()  # suspects beyond their share of the threads
        self._hung: dict[str, float] = {}  # when a name hung; the latest at the end
        self._requests: SimpleQueue[_Lookup | None] = SimpleQueue()

    def resolve(self, host: str, deadline: Deadline) -> Sequence[str]:
        """All addresses of a name, or none.

        Raises:
            EgressError: they were not found in time.
        """
        lookup = self._join(host, deadline)
        try:
            return lookup.found.result(deadline.left())
        except TimeoutError:
            with self._lock:
                if lookup.hangs() and self._running.get(host) is lookup:
                    self._suspect(lookup)
            raise EgressError(FailureReason.SLOW_NAME) from None
        except OSError:
            return ()

    def close(self) -> None:
        """End idle threads."""
        with self._lock:
            for _ in range(self._threads):
                self._requests.put(None)
            self._threads = 0

    def _join(self, host: str, deadline: Deadline) -> _Lookup:
        with self._lock:
            lookup = self._running.get(host)
            if lookup is None:
                lookup = _Lookup(host, deadline, is_suspect=self._has_hung(host))
                self._running[host] = lookup
                self._start(lookup)
            lookup.deadline = max(lookup.deadline, deadline, key=lambda each: each.at)
            return lookup

    def _start(self, lookup: _Lookup) -> None:
        if lookup.is_suspect and self._suspects >= self._most_of_hung:
            self._held.append(lookup)
            return
        self._suspects += lookup.is_suspect
        if self._threads < min(self._most, len(self._running) - len(self._held)):
            threading.Thread(target=self._work, name="lookup", daemon=True).start()
            self._threads += 1
        self._requests.put(lookup)

    def _work(self) -> None:
        while (lookup := self._requests.get()) is not None:
            found, error = self._look_up(lookup)
            with self._lock:
                self._end(lookup)
            if error is None:
                lookup.found.set_result(found)
            else:
                lookup.found.set_exception(error)

    def _end(self, lookup: _Lookup) -> None:
        if lookup.hangs():
            self._suspect(lookup)
        elif lookup.begun_at is not None:
            self._hung.pop(lookup.host, None)
        del self._running[lookup.host]
        self._suspects -= lookup.is_suspect
        while self._held and self._suspects < self._most_of_hung:
            self._start(self._held.popleft())

    def _suspect(self, lookup: _Lookup) -> None:
        """Remember that the name of a running lookup hangs; its thread counts as such now."""
        self._suspects += not lookup.is_suspect
        lookup.is_suspect = True
        self._hung.pop(lookup.host, None)
        self._hung[lookup.host] = time.monotonic()
        while not self._has_hung(first := next(iter(self._hung))):
            del self._hung[first]

    def _has_hung(self, host: str) -> bool:
        return time.monotonic() - self._hung.get(host, -math.inf) < HUNG_FOR

    def _look_up(self, lookup: _Lookup) -> tuple[Sequence[str], Exception | None]:
        if lookup.deadline.is_over:  # it waited too long for a thread
            return (), TimeoutError()
        lookup.begun_at = time.monotonic()
        try:
            return self._resolve(lookup.host), None
        except Exception as error:  # for the callers
            return (), error
