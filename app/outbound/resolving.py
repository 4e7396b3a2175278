"""Resolving names within a deadline."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from app.outbound.attempt import EgressError
from app.policy.deliveries import FailureReason
from app.policy.egress import LOOKUPS
from app.values.deadline import Deadline

# Returns the addresses of a name. Raises OSError if there are none.
Resolve = Callable[[str], Sequence[str]]


def resolve_name(host: str) -> list[str]:
    """Return the addresses of a name, from the system's resolver.

    Raises:
        OSError: there are none.
    """
    entries = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class Lookups:
    """Lookups of names in threads, since the system's resolver has no timeout.

    Callers with the same name share a lookup. One that hangs keeps its thread until the system
    gives up, which is soon, as the worker sets RES_OPTIONS.
    """

    def __init__(self, resolve: Resolve, max_threads: int = LOOKUPS) -> None:
        """
        Args:
            max_threads: when all are busy, lookups count as timed out.
        """
        self._resolve = resolve
        self._max_threads = max_threads
        self._lock = threading.Lock()
        self._running: dict[str, Future[Sequence[str]]] = {}

    def resolve(self, host: str, deadline: Deadline) -> Sequence[str]:
        """Return all addresses of a name, or none.

        Raises:
            EgressError: they were not found in time.
        """
        try:
            return self._join(host).result(deadline.left())
        except TimeoutError:
            raise EgressError(FailureReason.SLOW_NAME) from None
        except OSError:
            return ()

    def _join(self, host: str) -> Future[Sequence[str]]:
        """Return the running lookup of a name, or start one."""
        with self._lock:
            lookup = self._running.get(host)
            if lookup is None:
                if len(self._running) >= self._max_threads:
                    raise TimeoutError
                lookup = self._running[host] = Future()
                threading.Thread(
                    target=self._look_up, args=(host, lookup), name="lookup", daemon=True
                ).start()
            return lookup

    def _look_up(self, host: str, lookup: Future[Sequence[str]]) -> None:
        addresses: Sequence[str] = ()
        failure = None
        try:
            addresses = self._resolve(host)
        except Exception as error:  # for the callers
            failure = error
        with self._lock:
            del self._running[host]
        if failure is None:
            lookup.set_result(addresses)
        else:
            lookup.set_exception(failure)
