"""The job that deletes accounts whose scheduled deletion is due."""

from __future__ import annotations

import logging
import time
from typing import Final

from app.account.deletion.contents import delete_account
from app.account.deletion.schedule import begin_deletion, due_accounts
from app.audit.origin import Via, acting
from app.db.extensions import db
from app.db.transactions import transaction
from app.http.errors import NotFound
from app.jobs import shutdown
from app.jobs.pauses import pause_after
from app.jobs.registry import Job

log = logging.getLogger(__name__)

_RUN_SECONDS: Final = 10.0  # mails and all other jobs wait for it


def delete_accounts() -> int:
    """Delete the accounts whose deletion is due. Returns the number of deleted ones.

    Stops after ``_RUN_SECONDS`` or when the worker is asked to stop; the next run continues. An
    account that cannot be deleted is logged and tried again, and does not hold up the others.
    """
    end, deleted = time.monotonic() + _RUN_SECONDS, 0
    for account_id in due_accounts():
        try:
            deleted += _delete(account_id, end)
        except NotFound:  # the command has just deleted it
            continue
        except Exception:  # the others go on; this one is tried again by the next run
            log.exception("account %s could not be deleted", account_id)
        if shutdown.requested.is_set() or time.monotonic() > end:
            break
    return deleted


def _delete(account_id: str, end: float) -> bool:
    """Delete an account. Returns False if something of it is left, or it is not to be deleted."""
    with transaction():
        scheduler = begin_deletion(account_id)
        if scheduler is None:
            return False
        with acting(scheduler, Via()):
            began = time.monotonic()
            for number, _ in enumerate(delete_account(account_id)):
                db.session.commit()
                pause_after(began)
                began = time.monotonic()
                # Not before the second step: the first one is repeated by each run.
                if number and (shutdown.requested.is_set() or began > end):
                    return False
            db.session.commit()
    return True


JOBS: Final = (Job(delete_accounts, every_seconds=60),)
