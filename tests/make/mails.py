"""What was mailed, in an application without a mail server."""

from __future__ import annotations

import itertools
import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import cache
from pathlib import Path

from flask import Flask

from app.mail.jobs import send_mails
from app.mail.transport import MAIL_FOLDER
from tests.jobs.due import run_if_due

_numbers = itertools.count(1)


def new_email(prefix: str = "member") -> str:
    """An address that no other test has."""
    return f"{prefix}-{next(_numbers)}@example.org"


def mails_to(app: Flask, address: str) -> list[EmailMessage]:
    """The mails that an address has got, the oldest first; those that are due are sent before."""
    with app.app_context():
        run_if_due(send_mails)
    folder = app.config["SETTINGS"].instance_path / MAIL_FOLDER
    mails = [_read(path) for path in folder.glob("*.eml")]
    own = [message for recipient, message in mails if recipient == address]
    return sorted(own, key=lambda message: str(message["Message-ID"]))  # ids sort by time


def text_of(message: EmailMessage) -> str:
    """Its text, for programs that show no HTML."""
    part = message.get_body(("plain",))
    assert part is not None
    return part.get_content()


def link_in(message: EmailMessage) -> str:
    """The first link of its text."""
    found = re.search(r"https?://\S+", text_of(message))
    assert found, text_of(message)
    return found[0]


@cache
def _read(path: Path) -> tuple[str, EmailMessage]:
    """The recipient of a mail, and the mail."""
    message = message_from_bytes(path.read_bytes(), policy=policy.default)
    return str(message["To"]), message
