"""The job that mails about API keys that expire soon."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import bindparam

from app.auth.tenant import select_of_all_accounts
from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.mail.service import queue_mail
from app.models import Account, Credential, User
from app.policy.request_limits import EXPIRY_MAILED_DAYS
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

_BATCH: Final = 100  # per transaction


def mail_expiring_keys() -> int:
    """Mail the creators of API keys that expire soon. Returns the number of keys."""
    total, number = 0, _BATCH
    while number == _BATCH:
        with transaction():
            number = mail_expiring(_BATCH)
        total += number
    return total


def mail_expiring(most: int) -> int:
    """Queue mails about up to ``most`` API keys that expire within ``EXPIRY_MAILED_DAYS``, in the
    current transaction. Keys that were created for less time than that are skipped.

    Returns the number of keys found, the skipped ones included.
    """
    now = clock.now()
    values = {"now": now, "soon": now + _AHEAD, "most": most}
    rows = db.session.execute(_SOON, values).all()
    for credential, account_name, email, name in rows:
        credential.expiry_mailed_at = now
        assert credential.expires_at is not None
        if credential.expires_at - credential.created_at > _AHEAD:
            mail = _expiry_event_values(credential) | {"name": name, "account_name": account_name}
            cause = f"{MAIL}:{credential.account_id}:{credential.id}"
            queue_mail(MAIL, email, cause=cause, values=mail, account_id=credential.account_id)
    return len(rows)


def _expiry_event_values(credential: Credential) -> dict[str, Any]:
    return {
        "key_name": credential.name,
        "ends_with": credential.token_end,
        "expires_at": clock.format_optional_time(credential.expires_at),
        "last_used_at": clock.format_optional_time(credential.last_used_at),
    }


JOBS: Final = (Job(mail_expiring_keys, every_seconds=900),)
