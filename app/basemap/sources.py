"""Where a map is cut out of: a file on this machine, or one on a server that sends parts of it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urljoin

from app.outbound import Attempt, Egress, EgressError, TooLong
from app.outbound.exchange import Response
from app.policy.deliveries import FailureReason
from app.values import clock
from app.values.deadline import Deadline
from app.values.version import VERSION

WAITS: Final = (1, 2, 4, 8, 16, 32, 64)  # seconds before another try, as long as no byte comes
_REQUEST_SECONDS: Final = 60.0  # for a request; what has come until then is kept
_CONNECT_SECONDS: Final = 15.0
_LONGEST_WAIT: Final = 900.0  # seconds that a server may ask for
_REDIRECTS: Final = 5
_REDIRECTED: Final = (301, 302, 303, 307, 308)
_BUSY: Final = (408, 429, 500, 502, 503, 504)
_RANGE: Final = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})", re.ASCII)
_PASSING: Final = frozenset(
    {
        FailureReason.NO_PUBLIC_ADDRESS,
        FailureReason.SLOW_NAME,
        FailureReason.SLOW_CONNECT,
        FailureReason.REFUSED,
        FailureReason.UNREACHABLE,
        FailureReason.SLOW_TLS,
        FailureReason.SLOW_RESPONSE,
        FailureReason.CLOSED,
    }
)


class SourceFailed(Exception):
    """The map cannot be read, now or at all. The message is one or two sentences."""


class Source(Protocol):
    """A file that is read in parts."""

    name: str  # its path or address, without a query, which may have a key
    state: str  # differs once the file has changed; known after the first read

    def read(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes, or fewer at the end of the file. Raises SourceFailed."""

    def close(self) -> None: ...


class FileSource:
    """A file on this machine."""

    def __init__(self, path: Path) -> None:
        self.name = str(path.absolute())
        self.state = ""
        self._path = path

    def read(self, offset: int, length: int) -> bytes:
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                self.state = _unchanged(self, f"{found.st_size} {found.st_mtime_ns}")
                return os.pread(file.fileno(), length, offset)
        except OSError as error:
            raise SourceFailed(f"{self.name} cannot be read ({error.strerror}).") from None

    def close(self) -> None:
        """Nothing is kept open."""


class ServerSource:
    """A file on a server. What is lost on the way is asked for again, from there on.

    Args:
        note: is told why nothing comes for a while.
    """

    def __init__(self, url: str, note: Callable[[str], None]) -> None:
        self.name = url.partition("?")[0]
        self.state = ""
        self.received = 0  # bytes of bodies
        self._url = url
        self._note = note
        self._size: int | None = None
        self._egress = Egress(for_operator=True)

    def read(self, offset: int, length: int) -> bytes:
        data = bytearray()
        failures = 0
        while len(data) < self._within(offset, length):
            before = len(data)
            try:
                wait = self._receive(offset, length, data)
            except EgressError as error:
                if error.reason not in _PASSING or self._size is None:
                    raise SourceFailed(f"{self.name}: {error}.") from None
                wait, reason = 0.0, str(error)
            else:
                reason = "the server is busy"
                if wait is None and len(data) == before:
                    raise SourceFailed(f"{self.name}: the server sends more or less than asked.")
                if wait is None:
                    continue
            failures = 1 if len(data) > before else failures + 1
            if failures > len(WAITS):
                raise SourceFailed(f"{self.name}: {reason}. To go on, run the same command again.")
            wait = min(max(wait, WAITS[failures - 1]), _LONGEST_WAIT)
            self._note(f"{reason}; next try in {wait:.0f} s")
            time.sleep(wait)
        return bytes(data)

    def close(self) -> None:
        self._egress.close()

    def _within(self, offset: int, length: int) -> int:
        """Return the bytes of a part that the file has."""
        return length if self._size is None else max(0, min(length, self._size - offset))

    def _receive(self, offset: int, length: int, data: bytearray) -> float | None:
        """Ask for the rest of a part once, and add to ``data`` what comes.

        Returns:
            None; or the seconds to wait, as the server is busy.

        Raises:
            EgressError: not all came.
        """
        url, last = self._url, offset + self._within(offset, length) - 1
        headers = {
            "Accept-Encoding": "identity",
            "Range": f"bytes={offset + len(data)}-{last}",
            "User-Agent": f"Canopy/{VERSION}",
        }
        attempt = Attempt(Deadline(_REQUEST_SECONDS), _CONNECT_SECONDS)
        for _ in range(_REDIRECTS):
            with self._egress.request("GET", url, headers, attempt=attempt, keep=True) as response:
                if response.status in _REDIRECTED and response.headers["Location"]:
                    url = urljoin(url, response.headers["Location"])
                    response.skip()
                    continue
                if response.status in _BUSY:
                    return _seconds(response.headers["Retry-After"])
                self._check(response, offset + len(data))
                with suppress(TooLong):  # more than was asked for
                    for piece in response.pieces(last + 1 - offset - len(data)):
                        data += piece
                        self.received += len(piece)
                return None
        raise SourceFailed(f"{self.name} is redirected too often.")

    def _check(self, response: Response, start: int) -> None:
        """Raise SourceFailed if a response is not the part from ``start`` on of the same file."""
        if response.status == 200:
            raise SourceFailed(
                f"{self.name}: this server does not send parts of a file (HTTP ranges). Download "
                "the whole file, and give its path."
            )
        if response.status != 206:
            raise SourceFailed(f"{self.name}: the server responds with {response.status}.")
        found = _RANGE.fullmatch(response.headers["Content-Range"] or "")
        if found is None or int(found[1]) != start:
            raise SourceFailed(f"{self.name}: the server sends other parts than those asked for.")
        tag = response.headers["ETag"] or response.headers["Last-Modified"] or ""
        self.state = _unchanged(self, f"{found[3]} {tag}".strip())
        self._size = int(found[3])


def _unchanged(source: Source, state: str) -> str:
    """Return the state of a source. Raises SourceFailed if it had another one before."""
    if state != (source.state or state):
        raise SourceFailed(f"{source.name} has changed meanwhile. Run the same command again.")
    return state


def _seconds(retry_after: str | None) -> float:
    """Return the seconds of a header Retry-After, which may be a date; 0 if it says nothing."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    with suppress(ValueError, TypeError):
        return (parsedate_to_datetime(text) - clock.now()).total_seconds()
    return 0.0
