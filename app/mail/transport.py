"""The way that mails go: to the server at ``MAIL_URL``, or into a folder."""

from __future__ import annotations

from contextlib import closing
from email.message import EmailMessage
from typing import Protocol

from app.mail.errors import ServerUnavailable
from app.mail.folder import MailFolder
from app.mail.leases import LeasedMail
from app.mail.messages import own_host
from app.mail.smtp import SmtpTransport
from config import Settings


class Transport(Protocol):
    """Takes mails, one after the other."""

    def send(self, claim: LeasedMail, message: EmailMessage) -> str:
        """Hand a mail over. Returns what was done with it; raises MailFailed when it was not
        taken."""

    def close(self) -> None:
        """End what is open."""


def open_transport(settings: Settings) -> Transport:
    """The way that the settings name. Nothing is connected before the first mail."""
    if settings.mail_url is None:
        return MailFolder(settings.instance_path)
    return SmtpTransport(settings.mail_url, own_host(settings.public_url))


def find_problem(settings: Settings, *, within: float) -> ServerUnavailable | None:
    """Connect and log in at the mail server, if there is one, and send nothing.

    Args:
        within: seconds that it has for each answer.

    Returns:
        why no mail could be sent, or None.
    """
    if settings.mail_url is None:
        return None
    own_name = own_host(settings.public_url)
    with closing(SmtpTransport(settings.mail_url, own_name, answer_within=within)) as transport:
        try:
            transport.try_out()
        except ServerUnavailable as trouble:
            return trouble
    return None
