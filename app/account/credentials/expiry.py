"""Telling whoever made an API key that it expires soon."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import bindparam

from app.auth.tenant import select_of_all_accounts
from app.db.extensions import db
from app.mail.service import queue_mail
from app.models import Account, Credential, User
from app.policy.bounds import EXPIRY_MAILED_DAYS
from app.values import clock

MAIL: Final = "key_expiring"
_AHEAD: Final = timedelta(days=EXPIRY_MAILED_DAYS)
_SOON: Final = (
    select_of_all_accounts(Credential, Account.name.label("account_name"), User.email, User.name)
    .join(Account, Account.id == Credential.account_id)
    .join(User, User.id == Credential.created_by)
    .where(
        Credential.revoked_at.is_(None),
        Credential.expiry_mailed_at.is_(None),
        Credential.expires_at > bindparam("now"),
        Credential.expires_at <= bindparam("soon"),
    )
    .order_by(Credential.expires_at)
    .limit(bindparam("most"))
    .with_for_update(of=Credential, skip_locked=True)
)


def mail_expiring(most: int) -> int:
    """Queue mails about API keys that expire within the days of the policy, in the current
    transaction. Returns how many keys were found. Nobody is told of one that was made for less
    than that."""
    moment = clock.now()
    values = {"now": moment, "soon": moment + _AHEAD, "most": most}
    rows = db.session.execute(_SOON, values).all()
    for credential, account_name, email, name in rows:
        credential.expiry_mailed_at = moment
        assert credential.expires_at is not None
        if credential.expires_at - credential.created_at > _AHEAD:
            mail = _values(credential) | {"name": name, "account_name": account_name}
            cause = f"{MAIL}:{credential.account_id}:{credential.id}"
            queue_mail(MAIL, email, cause=cause, values=mail)
    return len(rows)


def _values(credential: Credential) -> dict[str, Any]:
    return {
        "key_name": credential.name,
        "ends_with": credential.token_end,
        "expires_at": clock.format_optional_time(credential.expires_at),
        "last_used_at": clock.format_optional_time(credential.last_used_at),
    }
