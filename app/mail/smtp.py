"""Sending mails to an SMTP server (RFC 5321), several over one connection."""

from __future__ import annotations

import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import policy
from email.message import EmailMessage
from typing import Any, Final

from app.mail.errors import Delayed, MailError, ServerUnavailable, Undeliverable
from app.mail.leases import LeasedMail
from app.outbound.connection import verifying_context
from app.policy.mails import ACCEPT_TIMEOUT, MAILS_A_CONNECTION, REPLY_TIMEOUT, SEND_TIMEOUT
from app.settings.mail import MailServer
from app.values.deadline import Deadline

_SEVEN_BIT: Final = policy.SMTP.clone(cte_type="7bit")

# Errors and their texts. The first match counts.
_ERROR_TEXTS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (smtplib.SMTPSenderRefused, "the mail server refused the sender"),
    (smtplib.SMTPAuthenticationError, "the mail server refused the user and password"),
    (smtplib.SMTPResponseException, "the mail server refused the connection"),
    (smtplib.SMTPNotSupportedError, "the mail server does not accept a user and password"),
    (smtplib.SMTPServerDisconnected, "the mail server closed the connection"),
    (ssl.SSLCertVerificationError, "the certificate of the mail server is not trusted"),
    (ssl.SSLError, "no encrypted connection with the mail server"),
    (TimeoutError, "the mail server did not respond in time"),
    (socket.gaierror, "the name of the mail server cannot be resolved"),
    (smtplib.SMTPException, "the mail server cannot be used"),
    (OSError, "the mail server cannot be reached"),
)


class SmtpTransport:
    """Sends mails to one SMTP server."""

    def __init__(
        self, server: MailServer, own_name: str, *, reply_timeout: float | None = None
    ) -> None:
        """
        Args:
            own_name: the name of this machine in EHLO.
            reply_timeout: seconds for the connection and for each reply; by default REPLY_TIMEOUT.
        """
        self._server = server
        self._own_name = own_name
        self._reply_timeout = reply_timeout or REPLY_TIMEOUT
        self._client: smtplib.SMTP | None = None
        self._left = 0  # mails that may still be sent over this connection
        self._deadline = Deadline(SEND_TIMEOUT)

    def send(self, mail: LeasedMail, message: EmailMessage) -> str:
        """Send a mail.

        Raises:
            Undeliverable: the server rejected it permanently.
            Delayed: the server rejected it temporarily.
            ServerUnavailable: the server cannot be used.
        """
        with self._translate_errors(), self._in_time():
            client = self._ready()
            self._left -= 1
            _send_message(client, message)
        return f"accepted by {self._server.host}"

    def check_login(self) -> None:
        """Connect and log in, without sending anything. Raises ServerUnavailable."""
        with self._translate_errors(), self._in_time():
            self._ready()

    def close(self) -> None:
        """Close the connection, if there is one."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(smtplib.SMTPException, OSError):
                client.quit()
            client.close()

    def _ready(self) -> smtplib.SMTP:
        """Return the connection, or a new one if it is dead or has carried MAILS_A_CONNECTION."""
        client = self._client
        if client is not None and self._left and _is_alive(client):
            return client
        self.close()
        self._connect()
        assert self._client is not None
        self._left = MAILS_A_CONNECTION
        return self._client

    def _connect(self) -> None:
        server = self._server
        context = verifying_context(server.ca)
        options = {"local_hostname": self._own_name, "timeout": self._reply_timeout}
        if server.is_tls:
            client: smtplib.SMTP = _TlsClient(self, server, context=context, **options)
        else:
            client = _Client(self, server, **options)
        client.ehlo_or_helo_if_needed()
        if server.starttls != "never" and client.has_extn("starttls"):
            client.starttls(context=context)
            client.ehlo_or_helo_if_needed()
        elif server.starttls == "required":
            raise ServerUnavailable("the mail server does not offer STARTTLS")
        if server.user:
            client.login(server.user, server.password)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Cut the connection if a mail takes longer than SEND_TIMEOUT. Each reply has a timeout,
        but one that arrives byte by byte would never reach it."""
        self._deadline = Deadline(SEND_TIMEOUT)
        timer = threading.Timer(SEND_TIMEOUT, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _cut(self) -> None:
        connection: Any = self._client and self._client.sock
        if connection:
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)  # below TLS, which would wait

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate the library's exceptions. After one, the next mail gets a new connection."""
        try:
            yield
        except smtplib.SMTPRecipientsRefused as error:
            code, reply = next(iter(error.recipients.values()))
            raise _mail_rejection("the recipient", code, reply) from None
        except smtplib.SMTPDataError as error:
            raise _mail_rejection("the email", error.smtp_code, error.smtp_error) from None
        except (smtplib.SMTPException, OSError) as error:
            self._drop()
            # The library reports a missing reply as a closed connection.
            is_late = self._deadline.is_over or isinstance(error.__context__, TimeoutError)
            raise _server_unavailable(TimeoutError() if is_late else error) from None
        except ServerUnavailable:
            self._drop()
            raise

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()


class _RegisteredEarly:
    """A client that its transport knows before it connects, so that it can be cut."""

    sock: socket.socket | None
    timeout: float

    def __init__(self, transport: SmtpTransport, server: MailServer, **options: Any) -> None:
        transport._client = self  # type: ignore[assignment]
        super().__init__(server.host, server.port, **options)  # type: ignore[call-arg]

    def data(self, msg: Any) -> tuple[int, bytes]:
        """Send the contents with a longer timeout: a server may examine a mail before it replies,
        and after an early end the mail would be sent again."""
        assert self.sock is not None
        self.sock.settimeout(ACCEPT_TIMEOUT)
        reply: tuple[int, bytes] = super().data(msg)  # type: ignore[misc]
        if self.sock is not None:
            self.sock.settimeout(self.timeout)
        return reply


class _Client(_RegisteredEarly, smtplib.SMTP):
    pass


class _TlsClient(_RegisteredEarly, smtplib.SMTP_SSL):
    pass


def _is_alive(client: smtplib.SMTP) -> bool:
    try:
        return client.noop()[0] == 250
    except (smtplib.SMTPException, OSError):
        return False


def _send_message(client: smtplib.SMTP, message: EmailMessage) -> None:
    sender, recipient = (message[name].addresses[0].addr_spec for name in ("From", "To"))
    options = []
    if not recipient.isascii():
        if not client.has_extn("smtputf8"):
            raise Undeliverable(
                "the mail server does not accept addresses with non-ASCII characters"
            )
        options.append("SMTPUTF8")
    takes_eight = client.has_extn("8bitmime")
    form = policy.SMTPUTF8 if options else policy.SMTP if takes_eight else _SEVEN_BIT
    if takes_eight:
        options.append("BODY=8BITMIME")
    client.sendmail(sender, [recipient], message.as_bytes(policy=form), options)


def _mail_rejection(what: str, code: int, reply: bytes | str) -> MailError:
    kind = Undeliverable if 500 <= code < 600 else Delayed
    return kind(f"the mail server refused {what} ({code})", _readable_reply(reply))


def _server_unavailable(error: Exception) -> ServerUnavailable:
    text = next(text for kind, text in _ERROR_TEXTS if isinstance(error, kind))
    if isinstance(error, smtplib.SMTPResponseException):
        return ServerUnavailable(f"{text} ({error.smtp_code})", _readable_reply(error.smtp_error))
    return ServerUnavailable(text, "" if isinstance(error, TimeoutError) else str(error))


def _readable_reply(reply: bytes | str) -> str:
    text = reply.decode(errors="replace") if isinstance(reply, bytes) else reply
    return "".join(c if c.isprintable() else " " for c in text)[:300]
