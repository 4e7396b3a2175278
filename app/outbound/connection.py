"""Connections, with TLS and without, that keep their deadline whatever the peer sends."""

from __future__ import annotations

import io
import math
import select
import socket
import ssl
import time
from pathlib import Path
from typing import Final

from app.outbound.attempt import Attempt, EgressError
from app.policy.deliveries import FailureReason
from app.values.deadline import Deadline

# Keyed by the number of OpenSSL's verification error (X509_V_ERR_…).
_CERTIFICATE_REASONS: Final = {
    **dict.fromkeys((62, 64), FailureReason.WRONG_NAME),
    **dict.fromkeys((9, 10), FailureReason.EXPIRED),
    **dict.fromkeys((2, 18, 19, 20, 21, 24, 27, 28), FailureReason.UNTRUSTED),
}


class TooLong(OSError):
    """The peer sent more than allowed."""


class Connection:
    """A TCP connection, with TLS or without, with a deadline and a limit for what it reads.

    A socket's timeout is for one operation, and a peer that sends a byte now and then never exceeds
    it. So here each operation has the time that is left.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._tls = connection if isinstance(connection, ssl.SSLSocket) else None
        self._readable = _poll_for(connection, select.POLLIN)
        self._writable = _poll_for(connection, select.POLLOUT)
        self._deadline = Deadline(math.inf)
        self._allowance = math.inf  # bytes that may still be read
        self.has_response = False  # since ``begin``
        self.has_ended = False  # the peer sends nothing more
        self.opened_at = self.used_at = time.monotonic()

    def begin(self, deadline: Deadline, allowance: float) -> None:
        """Begin an exchange.

        Args:
            allowance: bytes of the response that may be read.
        """
        self.has_response = False
        self.allow(deadline, allowance)

    def allow(self, deadline: Deadline, allowance: float) -> None:
        """Set the limits for the rest of the exchange."""
        self._deadline, self._allowance = deadline, allowance

    def recv_into(self, buffer: memoryview) -> int:
        """Read bytes into a buffer. Returns their number; 0 at the end.

        Raises:
            OSError: nothing came in time, or too much, or something other than TLS.
        """
        if self._allowance <= 0:
            raise TooLong
        limit = int(min(len(buffer), self._allowance))
        count = 0 if self.has_ended else self._read(buffer[:limit])
        self._allowance -= count
        if count:
            self.has_response = True
        else:
            self.has_ended = True
        return count

    def sendall(self, data: bytes) -> None:
        """Send data. Raises OSError if it cannot be sent in time."""
        left = memoryview(data)
        while left:
            try:
                left = left[self._socket.send(left) :]
            except (BlockingIOError, ssl.SSLWantWriteError):
                self._wait(self._writable)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Make a reader. Closing it leaves the connection open."""
        return io.BufferedReader(_Reader(self))

    def is_silent(self) -> bool:
        """True if the connection is open, and nothing is left to read."""
        return not (self._is_pending() or self._readable.poll(0))

    def close(self) -> None:
        self._socket.close()

    def _read(self, buffer: memoryview) -> int:
        while True:
            if not self._is_pending():
                self._wait(self._readable)
            try:
                return self._socket.recv_into(buffer)
            except (BlockingIOError, ssl.SSLWantReadError):
                continue

    def _is_pending(self) -> bool:
        """True if TLS has decrypted data to read."""
        return self._tls is not None and self._tls.pending() > 0

    def _wait(self, ready: select.poll) -> None:
        if not ready.poll(self._deadline.left() * 1000):
            raise TimeoutError


def _poll_for(connection: socket.socket, event: int) -> select.poll:
    poll = select.poll()
    poll.register(connection, event)
    return poll


class _Reader(io.RawIOBase):
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._connection.recv_into(buffer)


def verifying_context(cafile: Path | None = None) -> ssl.SSLContext:
    """Return a context that trusts the authorities in a file. None: the system's.

    Raises:
        OSError: the file cannot be read, or has no certificates.
    """
    context = ssl.create_default_context(cafile=cafile)
    # As before Python 3.13, and as browsers: many private authorities have no key usage.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def tls_context(ca_bundle: Path | None) -> ssl.SSLContext:
    """Return a context for HTTP that trusts the system's authorities, and those in a file.

    Raises:
        OSError: the file cannot be read, or has no certificates.
    """
    context = verifying_context()
    if ca_bundle is not None:
        context.load_verify_locations(ca_bundle)
    context.hostname_checks_common_name = False
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    return context


def start_tls(
    connection: socket.socket, host: str, context: ssl.SSLContext, attempt: Attempt
) -> Connection:
    """Start TLS on a connection with a peer whose certificate is valid for the host.

    Raises:
        EgressError: the handshake failed. The connection is closed.
    """
    try:
        connection.settimeout(attempt.connect_deadline.left())  # for the whole handshake
        return Connection(context.wrap_socket(connection, server_hostname=host))
    except OSError as error:
        connection.close()
        raise EgressError(_failure_reason(error)) from None


def _failure_reason(error: OSError) -> FailureReason:
    if isinstance(error, TimeoutError):
        return FailureReason.SLOW_TLS
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATE_REASONS.get(error.verify_code, FailureReason.BAD_CERTIFICATE)
    return FailureReason.TLS
