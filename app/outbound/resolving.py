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

# Returns the addresses of a name; raises OSError if there are none.
Resolve = Callable[[str], Sequence[str]]


def resolve_name(host: str) -> list[str]:
    """The addresses of a name, from the system's resolver.

    Raises:
        OSError: there are none.
    """
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Lookups:
    """Lookups in threads of their own, since the system's resolver has no timeout.

    A name is looked up once at a time, however many callers wait for it. A lookup that hangs keeps
    its thread until the system gives up: soon, as the worker sets RES_OPTIONS.
    """

    def __init__(self, resolve: Resolve, most: int = LOOKUPS) -> None:
        """
        Args:
            most: maximum number of threads. When all are busy, lookups count as timed out.
        """
        self._resolve = resolve
        self._most = most
        self._lock = threading.Lock()
        self._running: dict[str, Future[Sequence[str]]] = {}

    def resolve(self, host: str, deadline: Deadline) -> Sequence[str]:
        """All addresses of a name, or none.

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
        """The lookup of a name that is running, or a new one."""
        with self._lock:
            lookup = self._running.get(host)
            if lookup is None:
                if len(self._running) >= self._most:
                    raise TimeoutError
                lookup = self._running[host] = Future()
                arguments = (host, lookup)
                threading.Thread(
                    target=self._look_up, args=arguments, name="lookup", daemon=True
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
