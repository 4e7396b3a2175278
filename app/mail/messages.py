"""Composing mails: a subject and two templates for each kind.

Names are untrusted: anybody can sign up with somebody else's address. So they are put on one line,
and broken up where a mail program would make a link of them or a header would be decoded.
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

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context, select_autoescape
from jinja2.runtime import Context

from app.mail.errors import Undeliverable
from app.policy.mails import LINK_LIVES, NAME_LENGTH
from app.values.clock import describe_duration, parse_time
from app.values.formats import find_locale, format_in
from app.values.local_times import local_time
from config import Settings

SUBJECTS: Final = {
    "confirm_sign_up": "Confirm your email address for {instance}",
    "sign_up_known": "You already have an account with {instance}",
    "reset_password": "Set a new password for {instance}",
    "verify_email": "Confirm your email address for {instance}",
    "invitation": "{inviter_name} invites you to {account_name} on {instance}",
    "key_expiring": "An API key that you made expires soon on {instance}",
    "link_sign_in": "Link your sign-in with {provider} on {instance}",
    "sign_in_linked": "You can now sign in with {provider} on {instance}",
    "password_changed": "Your password for {instance} was changed",
    "second_factor_changed": "{title} on {instance}",
    "second_factor_guessed": "Somebody may know your password for {instance}",
    "account_deletion_scheduled": "Your account on {instance} will be deleted",
    "account_deletion_canceled": "Your account on {instance} will not be deleted",
    "account_deleted": "Your account on {instance} is being deleted",
    "person_deleted": "Your profile on {instance} was deleted",
    "webhook_failing": "A webhook of your account is failing on {instance}",
    "webhook_disabled": "A webhook of your account was disabled on {instance}",
    "backup_failed": "The daily backup of {instance} failed",
    "test": "Test email from {instance}",
}
_WITHOUT_PASSWORDS: Final = SUBJECTS | {
    "second_factor_guessed": "Wrong codes were entered for your second factor on {instance}"
}
_NAMES: Final = ("name", "account_name", "inviter_name", "key_name", "passkey_name", "by_name")
_JOINERS: Final = "\u200c\u200d"  # format characters needed by words and emoji
_REPLACED: Final = (("://", ": //"), ("\\\\", "\\ \\"), ("=?", "= ?"))
_DOTS: Final = r"[.\u3002\uff0e\uff61]"  # RFC 3490, section 3.1
_LETTER: Final = r"[^\W\d_]"
# Mail programs make a link of a dot with a name after it. Top-level domains have at least two
# letters, except in scripts such as Chinese; so "e.V." stays.
_INITIAL: Final = r"[A-Za-z\u00c0-\u024f\u0370-\u052f](?=$|[\s.,;:!?()'\"&/])"
_DOT_OF_A_LINK: Final = re.compile(
    rf"{_DOTS}(?={_LETTER})(?!{_INITIAL})|(?<=www){_DOTS}(?=\w)", re.IGNORECASE
)

# 8bit, so that links are not broken up by quoted-printable.
_POLICY: Final = policy.SMTP.clone(cte_type="8bit")
_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=select_autoescape(["html"], default=False),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


@pass_context
def _format_time(context: Context, text: str) -> str:
    """Format a timestamp of the API as ``2 January 2026, 03:04 UTC``, or as the recipient has
    chosen in their profile."""
    locale, zone = context["locale"], context["time_zone"]
    time = local_time(parse_time(text), zone)
    own = locale and format_in(find_locale([locale])).moment(time)
    words = own or f"{time.day} {time:%B %Y, %H:%M}"
    return f"{words} {zone or 'UTC'}"


_TEMPLATES.filters["time"] = _format_time


class Envelope(NamedTuple):
    """The metadata of a message."""

    mail_id: str
    recipient: str
    date: datetime
    locale: str | None = None  # that the recipient has chosen, like the next
    time_zone: str | None = None


def compose_message(
    envelope: Envelope, kind: str, values: Mapping[str, Any], settings: Settings
) -> EmailMessage:
    """Compose a message. The same arguments give the same message.

    Raises:
        KeyError, jinja2.UndefinedError: the kind is unknown, or a value is missing.
        Undeliverable: the recipient cannot be written as an address.
    """
    safe = {name: _sanitize_value(name, value) for name, value in values.items()}
    message = EmailMessage(policy=_POLICY)
    subjects = SUBJECTS if settings.password_sign_in else _WITHOUT_PASSWORDS
    subject = subjects[kind].format_map(safe | {"instance": settings.instance_name})
    _set_header(message, "Subject", subject)
    sender = settings.mail_from
    message["From"] = Address(sender.name, addr_spec=sender.address)
    message["To"] = _ascii_address(envelope.recipient)
    message["Date"] = envelope.date
    message["Message-ID"] = f"<{envelope.mail_id}@{mail_host(settings.public_url)}>"
    message["Auto-Submitted"] = "auto-generated"
    context = {
        "subject": subject,
        "instance": settings.instance_name,
        "site": settings.public_url,
        "support_email": settings.support_email,
        "privacy_url": settings.privacy_url,
        "imprint_url": settings.imprint_url,
        "password_sign_in": settings.password_sign_in,
        "single_sign_on": settings.oidc_name,
        "recipient": envelope.recipient,
        "locale": envelope.locale,
        "time_zone": envelope.time_zone,
        "link_life": describe_duration(LINK_LIVES.get(kind, timedelta())),
    }
    text, html = (
        _TEMPLATES.get_template(f"{kind}.{form}").render(context | safe) for form in ("txt", "html")
    )
    message.set_content(text, cte="8bit")
    message.add_alternative(html, subtype="html", cte="8bit")
    return message


def mail_host(public_url: str) -> str:
    """Return the host of a URL for mails: a name in ASCII, or an IP address in brackets."""
    host = urlsplit(public_url).hostname or "localhost"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        with suppress(UnicodeError):
            host = host.encode("idna").decode()
        return re.sub(r"[^a-z0-9._-]", "-", host)
    return f"[IPv6:{address}]" if address.version == 6 else f"[{address}]"


def _sanitize_value(name: str, value: Any) -> Any:
    """Put a value on one line, and break up possible links in a name."""
    if not isinstance(value, str):
        return value
    line = " ".join("".join(map(_line_character, value)).split())
    if name not in _NAMES:
        return line
    for link, text in _REPLACED:
        line = line.replace(link, text)
    line = _DOT_OF_A_LINK.sub(". ", line)
    line = " ".join(line.split()) or "…"
    return line if len(line) <= NAME_LENGTH else line[: NAME_LENGTH - 1].rstrip() + "…"


def _line_character(character: str) -> str:
    """Replace a control character by a space, and remove an invisible one."""
    category = unicodedata.category(character)
    if category == "Cc":
        return " "
    return "" if category in ("Cf", "Cs") and character not in _JOINERS else character


def _set_header(message: EmailMessage, name: str, value: str) -> None:
    """Set a header to exactly this text; the library decodes what looks encoded."""
    message[name] = value
    assert message[name] == value


def _ascii_address(recipient: str) -> Address:
    """Convert the domain of an address to ASCII. The local part is unchanged: if it is not ASCII,
    the server must support SMTPUTF8 (RFC 6531)."""
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
    raise Undeliverable("the address cannot be written in an email")
