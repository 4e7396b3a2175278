"""The job that mails about keys that expire soon."""

from __future__ import annotations

from typing import Final

from app.account.credentials.expiry import mail_expiring
from app.db.transactions import transaction
from app.jobs.registry import Job

_BATCH: Final = 100  # per transaction


def mail_expiring_keys() -> int:
    """Tell whoever made a key that it expires soon. Returns how many keys do."""
    found = number = _mail_batch()
    while number == _BATCH:
        number = _mail_batch()
        found += number
    return found


def _mail_batch() -> int:
    with transaction():
        return mail_expiring(_BATCH)


JOBS: Final = (Job(mail_expiring_keys, every_seconds=900),)
