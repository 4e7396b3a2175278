"""Mails as files, for an instance without a mail server."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage
from pathlib import Path
from typing import Final

from app.mail.errors import ServerUnavailable
from app.mail.leases import LeasedMail
from app.values.files import write_private_file

NAME: Final = "mails"
_POLICY: Final = policy.default.clone(utf8=True)  # readable without decoding


class MailFolder:
    """Writes mails to the instance's folder ``mails``, which only its owner can open."""

    def __init__(self, instance_path: Path) -> None:
        self._folder = instance_path / NAME

    def send(self, mail: LeasedMail, message: EmailMessage) -> str:
        """Write the mail as ``<time>-<kind>-<id>.eml``. The time is that of its Date header, so
        that a second attempt replaces the file.

        Raises:
            ServerUnavailable: the file cannot be written.
        """
        moment = message["Date"].datetime
        path = self._folder / f"{moment:%Y%m%dT%H%M%SZ}-{mail.kind}-{mail.id}.eml"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_private_file(path, message.as_bytes(policy=_POLICY))
        except OSError:
            raise ServerUnavailable(f"the folder {NAME} cannot be written") from None
        return f"written to {path}"

    def close(self) -> None:
        """Does nothing: no file stays open."""
