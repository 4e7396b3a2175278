"""How mails are sent: to the server at ``MAIL_URL``, or into a folder."""

from __future__ import annotations

from contextlib import closing
from email.message import EmailMessage
from typing import Protocol

from app.mail.errors import ServerUnavailable
from app.mail.folder import MailFolder
from app.mail.leases import LeasedMail
from app.mail.messages import mail_host
from app.mail.smtp import SmtpTransport
from config import Settings


class Transport(Protocol):
    """Sends mails, one after the other."""

    def send(self, mail: LeasedMail, message: EmailMessage) -> str:
        """Send a mail. Returns what was done with it, for the log. Raises MailError."""

    def close(self) -> None:
        """Close the connection, if there is one."""


def open_transport(settings: Settings) -> Transport:
    """The transport for these settings. It connects when the first mail is sent."""
    if settings.mail_url is None:
        return MailFolder(settings.instance_path)
    return SmtpTransport(settings.mail_url, mail_host(settings.public_url))


def find_problem(settings: Settings, *, within: float) -> ServerUnavailable | None:
    """Connect and log in to the mail server, if there is one, without sending anything.

    Args:
        within: timeout for each reply, in seconds.

    Returns:
        the error that prevents sending, or None.
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
