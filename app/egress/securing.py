"""TLS on a connection, which holds its deadline whatever the peer sends."""

from __future__ import annotations

import io
import math
import select
import socket
import ssl
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from app.egress.attempt import Attempt, EgressError
from app.policy.deliveries import FailureReason
from app.policy.egress import TLS_BYTES

_PIECE: Final = 16 * 1024  # bytes that OpenSSL is given at once
# By the number that OpenSSL gives to what is wrong with a certificate (X509_V_ERR_…).
_CERTIFICATE_TROUBLES: Final = {
    **dict.fromkeys((62, 64), FailureReason.WRONG_NAME),
    **dict.fromkeys((9, 10), FailureReason.EXPIRED),
    **dict.fromkeys((2, 18, 19, 20, 21, 24, 27, 28), FailureReason.UNTRUSTED),
}


class TooLong(OSError):
    """The peer sent more than it may."""


class SecureConnection:
    """A TLS connection with a deadline, and an end to what it reads.

    A timeout of a socket is for one operation, and a peer that sends a byte now and then never
    meets it. So each operation gets what is left. And OpenSSL, where it reads from a socket itself,
    goes on without an end for as long as messages of TLS come, such as session tickets, that hold
    nothing for the reader. So it is given what came piece by piece, with a look at the clock and at
    the count of bytes before each.
    """

    def __init__(self, connection: socket.socket, host: str, context: ssl.SSLContext) -> None:
        """
        Raises:
            ssl.SSLError: TLS cannot be spoken with this host.
        """
        connection.setblocking(False)
        self._socket = connection
        self._readable = _poll(connection, select.POLLIN)
        self._writable = _poll(connection, select.POLLOUT)
        self._came, self._leaves = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._came, self._leaves, server_hostname=host)
        self._tls_allowance = 0  # bytes that may still come, with those that TLS adds
        self.deadline = math.inf  # on the clock of time.monotonic
        self.allowance = math.inf  # bytes of the answer that may still be read
        self.has_answered = False  # since ``begin``
        self.has_ended = False  # the peer will send nothing more
        self.opened_at = self.used_at = 0.0

    def begin(self, deadline: float, allowance: float = math.inf) -> None:
        """Begin an exchange.

        Args:
            deadline: on the clock of time.monotonic.
            allowance: bytes of the answer that may be read.
        """
        self.deadline, self.allowance = deadline, allowance
        self._tls_allowance = TLS_BYTES
        self.has_answered = False

    def do_handshake(self) -> None:
        """
        Raises:
            OSError: it failed, also as TimeoutError and as ssl.SSLError.
        """
        try:
            while self._must_wait_for_handshake():
                self._flush()
                self._receive()
        except OSError:
            with suppress(OSError):
                self._flush()  # what is wrong, for the peer to know
            raise
        self._flush()

    def recv_into(self, buffer: memoryview) -> int:
        """Read some of what the peer says, at most to the end of the allowance; 0 at its end.

        Raises:
            OSError: nothing came in time, or the peer sent too much, or no TLS.
        """
        if self.allowance <= 0:
            raise TooLong
        count = 0 if self.has_ended else None
        while count is None:
            if not self._is_pending():
                self._receive()
            count = self._decrypt(buffer, int(min(len(buffer), self.allowance)))
        self.allowance -= count
        if count:
            self.has_answered = True
        else:
            self.has_ended = True
        return count

    def sendall(self, data: bytes) -> None:
        """
        Raises:
            OSError: it was not taken in time.
        """
        left = memoryview(data)
        while left:
            left = left[self._tls.write(left[:_PIECE]) :]
            self._flush()

    def makefile(self, mode: str) -> io.BufferedReader:
        """A reader, whose end is not that of the connection."""
        return io.BufferedReader(_Reader(self))

    def is_silent(self) -> bool:
        """Whether it stands, and nothing came that was not read."""
        return not (self._is_pending() or self._readable.poll(0))

    def close(self) -> None:
        self._socket.close()

    def _is_pending(self) -> bool:
        return self._came.pending > 0 or self._tls.pending() > 0

    def _must_wait_for_handshake(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return True
        return False

    def _decrypt(self, buffer: memoryview, most: int) -> int | None:
        """How many bytes there are, 0 at the end; None if more has to come before."""
        try:
            return self._tls.read(most, buffer)  # type: ignore[return-value]
        except ssl.SSLWantReadError:
            self._flush()  # what TLS itself answers
            return None
        except ssl.SSLEOFError:
            return 0

    def _receive(self) -> None:
        piece = None
        while piece is None:
            self._wait(self._readable)
            with suppress(BlockingIOError):
                piece = self._socket.recv(_PIECE)
        self._tls_allowance -= len(piece)
        if self._tls_allowance < 0:
            raise TooLong
        if piece:
            self._came.write(piece)
        else:
            self._came.write_eof()

    def _flush(self) -> None:
        left = self._leaves.read() if self._leaves.pending else b""
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                self._wait(self._writable)

    def _wait(self, ready: select.poll) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0 or not ready.poll(left * 1000):
            raise TimeoutError


def _poll(connection: socket.socket, event: int) -> select.poll:
    poll = select.poll()
    poll.register(connection, event)
    return poll


class _Reader(io.RawIOBase):
    def __init__(self, connection: SecureConnection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._connection.recv_into(buffer)


def tls_context(ca_bundle: Path | None) -> ssl.SSLContext:
    """What certificates are judged by: the authorities of a file, or those of the system.

    Raises:
        OSError: the file cannot be read, or holds no certificates.
    """
    context = ssl.create_default_context(cafile=ca_bundle)
    context.hostname_checks_common_name = False
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    return context


def secure(
    connection: socket.socket, host: str, context: ssl.SSLContext, attempt: Attempt
) -> SecureConnection:
    """TLS on a connection, with a peer that proved to be the host.

    Raises:
        Failed: it did not. The connection is closed.
    """
    try:
        secured = SecureConnection(connection, host, context)
        secured.begin(attempt.deadline)
        secured.do_handshake()
    except OSError as error:
        connection.close()
        raise EgressError(_trouble(error)) from None
    secured.opened_at = time.monotonic()
    return secured


def _trouble(error: OSError) -> FailureReason:
    if isinstance(error, TimeoutError):
        return FailureReason.SLOW_TLS
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATE_TROUBLES.get(error.verify_code, FailureReason.BAD_CERTIFICATE)
    return FailureReason.TLS
