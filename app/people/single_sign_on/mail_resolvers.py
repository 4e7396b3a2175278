"""The resolver for mails with a link that links a sign-in (``app.mail.resolvers``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.mail.resolvers import Resolved, Resolver, is_over_mail_limit
from app.people.single_sign_on.mails import LINK


def _link(recipient: str, values: dict[str, Any]) -> Resolved:
    return None if is_over_mail_limit(recipient, (LINK,)) else (LINK, values)


RESOLVERS: Final[Mapping[str, Resolver]] = {LINK: _link}
