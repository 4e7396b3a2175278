"""Resolvers of the mails that this package queues (``app.mail.resolvers``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.mail.resolvers import Resolved, Resolver, has_had_too_many
from app.people import links, sign_up

# Mails that are counted together for each address; anybody can cause the first two groups.
_SIGN_UPS: Final = ("confirm_sign_up", "sign_up_known")
_RESETS: Final = (links.RESET,)
_CHANGED: Final = "password_changed"


def _sign_up(recipient: str, values: dict[str, Any]) -> Resolved:
    if has_had_too_many(recipient, _SIGN_UPS):
        return None
    return sign_up.mail_of_sign_up(recipient, values)


def _reset(recipient: str, _: dict[str, Any]) -> Resolved:
    return None if has_had_too_many(recipient, _RESETS) else links.mail_of_reset(recipient)


def _password_changed(recipient: str, values: dict[str, Any]) -> Resolved:
    return None if has_had_too_many(recipient, (_CHANGED,)) else (_CHANGED, values)


RESOLVERS: Final[Mapping[str, Resolver]] = {
    sign_up.MAIL: _sign_up,
    links.FORGOT: _reset,
    _CHANGED: _password_changed,
}
