"""Connections that keep to their deadline whatever the peer sends, with TLS and without."""

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

# By the number of OpenSSL's verification error (X509_V_ERR_…).
_CERTIFICATE_REASONS: Final = {
    **dict.fromkeys((62, 64), FailureReason.WRONG_NAME),
    **dict.fromkeys((9, 10), FailureReason.EXPIRED),
    **dict.fromkeys((2, 18, 19, 20, 21, 24, 27, 28), FailureReason.UNTRUSTED),
}


class TooLong(OSError):
    """The peer sent more than it may."""


class Connection:
    """A TCP connection, with TLS or without, with a deadline and a limit to what it reads.

    A socket's timeout is for one operation, and a peer that sends a byte now and then never exceeds
    it. So each operation gets the time that is left.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._deadline = Deadline(math.inf)
        self._allowance = math.inf  # bytes of the response that may still be read
        self.has_response = False  # since ``begin``
        self.has_ended = False  # the peer will send nothing more
        self.opened_at = self.used_at = time.monotonic()

    def begin(self, deadline: Deadline, allowance: float) -> None:
        """Begin an exchange.

        Args:
            allowance: bytes of the response that may be read.
        """
        self.has_response = False
        self.allow(deadline, allowance)

    def allow(self, deadline: Deadline, allowance: float) -> None:
        """Set the limits for what follows in the exchange."""
        self._deadline, self._allowance = deadline, allowance

    def recv_into(self, buffer: memoryview) -> int:
        """Read some of what the peer sent, within the allowance; 0 at its end.

        Raises:
            OSError: nothing came in time, or too much, or something other than TLS.
        """
        if self._allowance <= 0:
            raise TooLong
        if self.has_ended:
            return 0
        self._socket.settimeout(self._deadline.left())
        count = self._socket.recv_into(buffer[: int(min(len(buffer), self._allowance))])
        self._allowance -= count
        if count:
            self.has_response = True
        else:
            self.has_ended = True
        return count

    def sendall(self, data: bytes) -> None:
        """
        Raises:
            OSError: it could not be sent in time.
        """
        left = memoryview(data)
        while left:
            self._socket.settimeout(self._deadline.left())
            left = left[self._socket.send(left) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        """A reader; closing it leaves the connection open."""
        return io.BufferedReader(_Reader(self))

    def is_silent(self) -> bool:
        """True if it is open, and all that came was read."""
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return False
        readable = select.poll()
        readable.register(self._socket, select.POLLIN)
        return not readable.poll(0)

    def close(self) -> None:
        self._socket.close()


class _Reader(io.RawIOBase):
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._connection.recv_into(buffer)


def verifying_context(cafile: Path | None = None) -> ssl.SSLContext:
    """Verifies certificates against the authorities of a file; None: against those of the system.

    Raises:
        OSError: the file cannot be read, or has no certificates.
    """
    context = ssl.create_default_context(cafile=cafile)
    # As before Python 3.13, and as browsers: many authorities of one's own have no key usage.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def tls_context(ca_bundle: Path | None) -> ssl.SSLContext:
    """For HTTP: against the authorities of the system, and those of a file.

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


def secure(
    connection: socket.socket, host: str, context: ssl.SSLContext, attempt: Attempt
) -> Connection:
    """TLS on a connection, with a peer whose certificate is valid for the host.

    Raises:
        EgressError: the handshake failed. The connection is closed.
    """
    try:
        connection.settimeout(attempt.connect_deadline.left())  # of the handshake as a whole
        return Connection(context.wrap_socket(connection, server_hostname=host))
    except OSError as error:
        connection.close()
        raise EgressError(_reason(error)) from None


def _reason(error: OSError) -> FailureReason:
    if isinstance(error, TimeoutError):
        return FailureReason.SLOW_TLS
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATE_REASONS.get(error.verify_code, FailureReason.BAD_CERTIFICATE)
    return FailureReason.TLS
