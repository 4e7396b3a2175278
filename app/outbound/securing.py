"""TLS on a connection that keeps to its deadline whatever the peer sends."""

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

from app.outbound.attempt import Attempt, EgressError
from app.policy.deliveries import FailureReason
from app.policy.egress import TLS_BYTES
from app.values.deadline import Deadline

_CHUNK: Final = 16 * 1024  # bytes given to OpenSSL at once
# By the number of OpenSSL's verification error (X509_V_ERR_…).
_CERTIFICATE_REASONS: Final = {
    **dict.fromkeys((62, 64), FailureReason.WRONG_NAME),
    **dict.fromkeys((9, 10), FailureReason.EXPIRED),
    **dict.fromkeys((2, 18, 19, 20, 21, 24, 27, 28), FailureReason.UNTRUSTED),
}


class TooLong(OSError):
    """The peer sent more than it may."""


class SecureConnection:
    """A TLS connection with a deadline, and a limit to what it reads.

    A socket's timeout is for one operation, and a peer that sends a byte now and then never exceeds
    it. So each operation gets the time that is left. And where OpenSSL reads from a socket itself,
    it goes on for as long as TLS messages without data come, such as session tickets. So it is fed
    chunk by chunk, and the time and the number of bytes are checked before each.
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
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._tls_allowance = 0  # bytes that may still come, TLS overhead included
        self.deadline = Deadline(math.inf)
        self.allowance = math.inf  # bytes of the response that may still be read
        self.has_response = False  # since ``begin``
        self.has_ended = False  # the peer will send nothing more
        self.opened_at = self.used_at = 0.0

    def begin(self, deadline: Deadline, allowance: float = math.inf) -> None:
        """Begin an exchange.

        Args:
            allowance: bytes of the response that may be read.
        """
        self.deadline, self.allowance = deadline, allowance
        self._tls_allowance = TLS_BYTES
        self.has_response = False

    def do_handshake(self) -> None:
        """
        Raises:
            OSError: it failed, TimeoutError and ssl.SSLError included.
        """
        try:
            while self._must_wait_for_handshake():
                self._flush()
                self._receive()
        except OSError:
            with suppress(OSError):
                self._flush()  # the alert, for the peer
            raise
        self._flush()

    def recv_into(self, buffer: memoryview) -> int:
        """Read some of what the peer sent, within the allowance; 0 at its end.

        Raises:
            OSError: nothing came in time, or too much, or something other than TLS.
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
            left = left[self._tls.write(left[:_CHUNK]) :]
            self._flush()

    def makefile(self, mode: str) -> io.BufferedReader:
        """A reader; closing it leaves the connection open."""
        return io.BufferedReader(_Reader(self))

    def is_silent(self) -> bool:
        """Whether it is open, and nothing came that was not read."""
        return not (self._is_pending() or self._readable.poll(0))

    def close(self) -> None:
        self._socket.close()

    def _is_pending(self) -> bool:
        return self._incoming.pending > 0 or self._tls.pending() > 0

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
            self._flush()  # what TLS itself sends
            return None
        except ssl.SSLEOFError:
            return 0

    def _receive(self) -> None:
        chunk = None
        while chunk is None:
            self._wait(self._readable)
            with suppress(BlockingIOError):
                chunk = self._socket.recv(_CHUNK)
        self._tls_allowance -= len(chunk)
        if self._tls_allowance < 0:
            raise TooLong
        if chunk:
            self._incoming.write(chunk)
        else:
            self._incoming.write_eof()

    def _flush(self) -> None:
        left = self._outgoing.read() if self._outgoing.pending else b""
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                self._wait(self._writable)

    def _wait(self, ready: select.poll) -> None:
        if not ready.poll(self.deadline.left() * 1000):
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
    """Verifies certificates against the authorities of a file, or those of the system.

    Raises:
        OSError: the file cannot be read, or has no certificates.
    """
    context = ssl.create_default_context(cafile=ca_bundle)
    context.hostname_checks_common_name = False
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    return context


def secure(
    connection: socket.socket, host: str, context: ssl.SSLContext, attempt: Attempt
) -> SecureConnection:
    """TLS on a connection, with a peer whose certificate is valid for the host.

    Raises:
        EgressError: the handshake failed. The connection is closed.
    """
    try:
        secured = SecureConnection(connection, host, context)
        secured.begin(attempt.deadline)
        secured.do_handshake()
    except OSError as error:
        connection.close()
        raise EgressError(_reason(error)) from None
    secured.opened_at = time.monotonic()
    return secured


def _reason(error: OSError) -> FailureReason:
    if isinstance(error, TimeoutError):
        return FailureReason.SLOW_TLS
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATE_REASONS.get(error.verify_code, FailureReason.BAD_CERTIFICATE)
    return FailureReason.TLS
