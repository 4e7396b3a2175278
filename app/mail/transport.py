"""Sending mails: to the server at ``MAIL_URL``, or without one into a folder of files."""

from __future__ import annotations

from contextlib import closing
from email import policy
from email.message import EmailMessage
from pathlib import Path
from typing import Final, Protocol

from app.mail.errors import ServerUnavailable
from app.mail.leases import LeasedMail
from app.mail.messages import mail_host
from app.mail.smtp import SmtpTransport
from app.values.files import write_private_file
from config import Settings

MAIL_FOLDER: Final = "mails"  # in the instance's folder
_READABLE: Final = policy.default.clone(utf8=True)  # without decoding


class Transport(Protocol):
    """A way to send mails, one after the other."""

    def send(self, mail: LeasedMail, message: EmailMessage) -> str:
        """Send a mail. Returns the outcome in words for the log. Raises MailError."""

    def close(self) -> None:
        """Close the connection, if there is one."""


class MailFolder:
    """Writes mails to the instance's folder ``mails``, which only its owner can open."""

    def __init__(self, instance_path: Path) -> None:
        self._folder = instance_path / MAIL_FOLDER

    def send(self, mail: LeasedMail, message: EmailMessage) -> str:
        """Write a mail as ``<time>-<kind>-<id>.eml``. The time is from its Date header, so that
        a second attempt replaces the file.

        Raises:
            ServerUnavailable: the file cannot be written.
        """
        date = message["Date"].datetime
        path = self._folder / f"{date:%Y%m%dT%H%M%SZ}-{mail.kind}-{mail.id}.eml"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_private_file(path, message.as_bytes(policy=_READABLE))
        except OSError:
            raise ServerUnavailable(f"the folder {MAIL_FOLDER} cannot be written") from None
        return f"written to {path}"

    def close(self) -> None:
        """Does nothing: no file stays open."""


def open_transport(settings: Settings) -> Transport:
    """Return the transport for these settings. It connects when the first mail is sent."""
    if settings.mail_url is None:
        return MailFolder(settings.instance_path)
    return SmtpTransport(settings.mail_url, mail_host(settings.public_url))


def mail_server_problem(settings: Settings, *, within: float) -> ServerUnavailable | None:
    """Connect and log in to the mail server, if there is one, without sending anything.

    Args:
        within: timeout for each reply, in seconds.

    Returns:
        The error that prevents sending, or None.
    """
    if settings.mail_url is None:
        return None
    own_name = mail_host(settings.public_url)
    with closing(SmtpTransport(settings.mail_url, own_name, reply_timeout=within)) as transport:
        try:
            transport.check_login()
        except ServerUnavailable as error:
            return error
    return None
