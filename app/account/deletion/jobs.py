"""The job that deletes accounts whose scheduled deletion is due."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator
from typing import Final

from app.account.deletion.contents import delete_account
from app.account.deletion.schedule import begin_deletion, due_accounts
from app.audit.origin import Actor, Via, acting_as
from app.db.transactions import transaction
from app.http.errors import NotFound
from app.jobs import shutdown
from app.jobs.registry import Job
from app.jobs.runs import JobRun

log = logging.getLogger(__name__)

_NO_MORE: Final = object()  # instead of a step


def delete_accounts() -> int:
    """Delete the accounts whose deletion is due. Returns the number of deleted ones.

    First all access to each of them ends, then they take turns. An account that cannot be deleted
    is logged and tried again by the next run, and does not hold up the others.
    """
    run, deleted = JobRun(), 0
    due = [_Deletion(account_id, run) for account_id in due_accounts()]
    waiting = deque(job for job in due if not shutdown.requested.is_set() and job.go_on())
    while waiting:
        deletion = waiting.popleft()
        if deletion.go_on():
            waiting.append(deletion)
        deleted += deletion.is_done
        if run.is_over:
            break
    return deleted


class _Deletion:
    """The deletion of an account, a step at a time. After the first one, all access has ended."""

    def __init__(self, account_id: str, run: JobRun) -> None:
        self.is_done = False
        self._account_id, self._run = account_id, run
        self._scheduler: Actor | None = None
        self._steps: Iterator[None] | None = None

    def go_on(self) -> bool:
        """Do the next step. Returns False after the last one, and when there is none to do."""
        began = time.monotonic()
        try:
            with transaction():
                self._scheduler = self._scheduler or begin_deletion(self._account_id)
                if self._scheduler is None:  # it was canceled just now
                    return False
                with acting_as(self._scheduler, Via()):
                    self._steps = self._steps or delete_account(self._account_id)
                    self.is_done = next(self._steps, _NO_MORE) is _NO_MORE
        except NotFound:  # the command has just deleted it
            return False
        except Exception:
            log.exception("account %s could not be deleted", self._account_id)
            return False
        self._run.pause(began)
        return not self.is_done


JOBS: Final = (Job(delete_accounts, every_seconds=60, is_due=lambda: bool(due_accounts())),)
