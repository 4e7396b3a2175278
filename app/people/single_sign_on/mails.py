"""Mails about linking a person to their identity at the provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.mail.resolvers import Resolved, Resolver, is_over_mail_limit
from app.mail.service import queue_mail
from app.security import tokens
from app.settings.current import current_settings
from app.values.clock import format_time, now

_LINK: Final = "link_sign_in"
_LINKED: Final = "sign_in_linked"


def mail_link(person: Any, link: str) -> None:
    """Mail a person the link with which they consent to be linked.

    Args:
        person: has ``id``, ``name`` and ``email``.
        link: the token of the link.
    """
    settings = current_settings()
    address = f"{settings.public_url}/login/single-sign-on/link/{link}"
    values = {"name": person.name, "link": address, "provider": settings.oidc_name}
    cause = f"{_LINK}:{person.id}:{tokens.hash_token(link)}"
    queue_mail(_LINK, person.email, cause=cause, values=values)


def mail_linked(person: Any, email: str, subject: str) -> None:
    """Mail a person that an identity was linked to them.

    Args:
        email: the address of the identity at the provider.
        subject: the subject of the identity there.
    """
    settings, when = current_settings(), format_time(now())
    values = {
        "name": person.name,
        "provider": settings.oidc_name,
        "email": email,
        "when": when,
        "profile_link": f"{settings.public_url}/profile",
    }
    cause = f"{_LINKED}:{person.id}:{tokens.hash_token(subject)}:{when}"
    queue_mail(_LINKED, person.email, cause=cause, values=values)


def _resolve_mail(recipient: str, values: dict[str, Any]) -> Resolved:
    """The mail with a link, or None if the address was mailed too often."""
    return None if is_over_mail_limit(recipient, (_LINK,)) else (_LINK, values)


RESOLVERS: Final[Mapping[str, Resolver]] = {_LINK: _resolve_mail}
