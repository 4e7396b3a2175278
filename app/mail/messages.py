"""What mails say: a subject and two templates for each kind, filled with values of others.

Names are what strangers have typed. They come into a mail on one line, without what a mail program
would make a link of, and never as part of an encoded header: whoever signs up with somebody else's
address decides about a name in the mail, and about nothing else.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from email import policy
from email.errors import NonASCIILocalPartDefect
from email.headerregistry import Address
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from app.mail.errors import Undeliverable
from app.policy.mails import LINK_LIVES, NAME_LENGTH
from app.values.clock import describe_duration, parse_time
from config import Settings

SUBJECTS: Final = {
    "confirm_sign_up": "Confirm your e-mail address for Canopy",
    "sign_up_known": "You already have an account at Canopy",
    "reset_password": "Set a new password for Canopy",
    "verify_email": "Confirm your e-mail address for Canopy",
    "invitation": "{inviter_name} invites you to {account_name} on Canopy",
    "password_changed": "Your password for Canopy was changed",
    "webhook_failing": "A webhook of your account fails on Canopy",
    "webhook_disabled": "A webhook of your account was disabled on Canopy",
    "test": "A test mail from Canopy",
}
_NAMES: Final = ("name", "account_name", "inviter_name")
_JOINERS: Final = "\u200c\u200d"  # of the format characters, those that words and emoji need
_DOT_OF_A_LINK: Final = re.compile(r"[.\u3002\uff0e\uff61](?=[^\W\d_])")  # RFC 3490, section 3.1

# Eight bits a character: links are not broken up, whoever reads the file.
_POLICY: Final = policy.SMTP.clone(cte_type="8bit")
_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=select_autoescape(["html"], default=False),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def _spelled_moment(text: str) -> str:
    """``2 January 2026, 03:04 UTC`` for a moment in the form of the API."""
    moment = parse_time(text)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


_TEMPLATES.filters["moment"] = _spelled_moment


class Envelope(NamedTuple):
    """What a message has besides its contents."""

    id: str  # of the mail
    recipient: str
    moment: datetime  # its Date


def compose(
    envelope: Envelope, kind: str, values: Mapping[str, Any], settings: Settings
) -> EmailMessage:
    """The message of a mail; the same whenever it is made of the same.

    Raises:
        KeyError, jinja2.UndefinedError: there is no such kind, or a value is missing.
        Undeliverable: no message can name this recipient.
    """
    shown = {name: _shown(name, value) for name, value in values.items()}
    message = EmailMessage(policy=_POLICY)
    subject = SUBJECTS[kind].format_map(shown)
    _set_header(message, "Subject", subject)
    sender = settings.mail_from
    message["From"] = Address(sender.name, addr_spec=sender.address)
    message["To"] = _address(envelope.recipient)
    message["Date"] = envelope.moment
    message["Message-ID"] = f"<{envelope.id}@{own_host(settings.public_url)}>"
    message["Auto-Submitted"] = "auto-generated"
    known = {
        "subject": subject,
        "site": settings.public_url,
        "recipient": envelope.recipient,
        "link_life": describe_duration(LINK_LIVES.get(kind, timedelta())),
    }
    text, html = (
        _TEMPLATES.get_template(f"{kind}.{form}").render(known | shown) for form in ("txt", "html")
    )
    message.set_content(text, cte="8bit")
    message.add_alternative(html, subtype="html", cte="8bit")
    return message


def own_host(public_url: str) -> str:
    """The host of an address as mails write it: a name in ASCII, or an address in brackets."""
    host = urlsplit(public_url).hostname or "localhost"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        with suppress(UnicodeError):
            host = host.encode("idna").decode()
        return re.sub(r"[^a-z0-9._-]", "-", host)
    return f"[IPv6:{address}]" if address.version == 6 else f"[{address}]"


def _shown(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    line = " ".join("".join(map(_in_line, value)).split())
    if name not in _NAMES:
        return line
    line = _DOT_OF_A_LINK.sub(". ", line.replace("://", ": //").replace("=?", "= ?"))
    line = " ".join(line.split()) or "…"
    return line if len(line) <= NAME_LENGTH else line[: NAME_LENGTH - 1].rstrip() + "…"


def _in_line(character: str) -> str:
    """What a character is within a line: controls are gaps, as spaces and breaks are, and invisible
    ones nothing."""
    category = unicodedata.category(character)
    if category == "Cc":
        return " "
    return "" if category in ("Cf", "Cs") and character not in _JOINERS else character


def _set_header(message: EmailMessage, name: str, value: str) -> None:
    """Set a header to this text exactly. The library reads it first, and would decode what looks
    encoded."""
    message[name] = value
    assert message[name] == value


def _address(recipient: str) -> Address:
    """The domain in ASCII; what stands before it as it is, where other characters are a matter of
    what the server takes (RFC 6531)."""
    local, _, domain = recipient.rpartition("@")
    try:
        domain = domain.encode("idna").decode()
        if not (local and domain):
            raise ValueError
        return Address(addr_spec=f"{local}@{domain}")
    except NonASCIILocalPartDefect:
        if local.isprintable() and not set(local) & set(' "(),:;<>@[\\]'):
            return Address(username=local, domain=domain)
    except (ValueError, IndexError):
        pass
    raise Undeliverable("the address cannot be written in a mail")
