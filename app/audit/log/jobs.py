"""The jobs that seal entries, and delete old ones."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.audit.log.keys import create_key, newest_key
from app.audit.log.retention import accounts_with_expired, delete_oldest
from app.audit.log.sealing import (
    AccountSealer,
    AlreadySealed,
    accounts_with_unsealed_entries,
    take_lock,
)
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.jobs.runs import JobRun

log = logging.getLogger(__name__)


def seal_audit_log() -> int:
    """Seal the entries that are due, taking turns between accounts. Returns how many."""
    run, sealed = JobRun(), 0
    waiting = deque(map(AccountSealer, accounts_with_unsealed_entries()))
    while waiting and not run.is_over:
        sealer = waiting.popleft()
        sealed += _seal_next(sealer, run)
        if not sealer.is_done:
            waiting.append(sealer)
    return sealed


def prune_audit_log() -> int:
    """Delete entries older than ``AUDIT_DAYS``, taking turns between accounts. Returns how many."""
    run, deleted = JobRun(), 0
    waiting = deque(accounts_with_expired())
    while waiting and not run.is_over:
        account_id = waiting.popleft()
        number = _prune_next(account_id, run)
        if number is not None:
            deleted += number
            waiting.append(account_id)
    return deleted


def _seal_next(sealer: AccountSealer, run: JobRun) -> int:
    began = time.monotonic()
    try:
        batch = sealer.read()
        if not batch:
            return 0
        key = _signing_key()
        with transaction():
            sealed = sealer.write(batch, key)
    except AlreadySealed:
        sealer.is_done = True
        return 0
    except Exception:  # the other accounts are sealed all the same
        log.exception("the audit log of %s cannot be sealed", sealer.account_id)
        sealer.is_done = True
        return 0
    run.pause(began)
    return sealed


def _prune_next(account_id: str, run: JobRun) -> int | None:
    began = time.monotonic()
    try:
        with transaction():
            deleted = delete_oldest(account_id)
    except Exception:  # as above
        log.exception("the audit log of %s cannot be pruned", account_id)
        return None
    run.pause(began)
    return deleted


def _signing_key() -> tuple[str, Ed25519PrivateKey]:
    """Return the key that signs, which is created for the first checkpoint of the instance."""
    key = newest_key()
    while key is None:
        with transaction():
            if take_lock("signing key") and newest_key() is None:
                create_key()
        key = newest_key()
    return key


JOBS: Final = (
    Job(seal_audit_log, every_seconds=60, is_due=lambda: bool(accounts_with_unsealed_entries())),
    Job(prune_audit_log, every_seconds=3600),
)
