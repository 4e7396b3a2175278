"""Resolvers for the mails that this package queues (``app.mail.resolvers``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.mail.resolvers import Resolved, Resolver, is_over_mail_limit
from app.people import links, sign_up

# Mails counted together for each address. Anybody can trigger the first two groups.
_SIGN_UPS: Final = ("confirm_sign_up", "sign_up_known")
_RESETS: Final = (links.RESET,)
_CHANGED: Final = "password_changed"


def _sign_up(recipient: str, values: dict[str, Any]) -> Resolved:
    if is_over_mail_limit(recipient, _SIGN_UPS):
        return None
    return sign_up.resolve_sign_up_mail(recipient, values)


def _reset(recipient: str, _: dict[str, Any]) -> Resolved:
    return None if is_over_mail_limit(recipient, _RESETS) else links.resolve_reset_mail(recipient)


def _password_changed(recipient: str, values: dict[str, Any]) -> Resolved:
    return None if is_over_mail_limit(recipient, (_CHANGED,)) else (_CHANGED, values)


RESOLVERS: Final[Mapping[str, Resolver]] = {
    sign_up.MAIL: _sign_up,
    links.FORGOT: _reset,
    _CHANGED: _password_changed,
}
