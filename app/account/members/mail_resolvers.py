"""The resolver for invitation mails (``app.mail.resolvers``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.account.members.invitations import MAIL, find_invitation
from app.mail.resolvers import Resolved, Resolver, is_over_mail_limit


def _invitation(recipient: str, values: dict[str, Any]) -> Resolved:
    """None if the invitation was withdrawn, or the account has mailed this address too often."""
    found = find_invitation(values["link"].rpartition("/")[2])
    if found is None or is_over_mail_limit(recipient, (MAIL,), f"{MAIL}:{found.account_id}"):
        return None
    return MAIL, values


RESOLVERS: Final[Mapping[str, Resolver]] = {MAIL: _invitation}
