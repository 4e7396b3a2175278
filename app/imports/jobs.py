"""The job that runs the steps of imports."""

from __future__ import annotations

import logging
import time
from typing import Final

from app.db.transactions import transaction
from app.imports.leases import NEW_WORK, lease_next
from app.imports.uploads import delete_old_copies
from app.jobs import shutdown
from app.jobs.registry import Job
from app.jobs.valkey import valkey
from app.policy.imports import EVERY_SECONDS, RUN_SECONDS

log = logging.getLogger(__name__)


def run_imports() -> int:
    """Run the steps that imports wait for, one after the other. Returns the number of steps."""
    from app.imports.steps import run_step  # noqa: PLC0415 - commands need no geometry

    valkey().attempt(NEW_WORK.begin)
    delete_old_copies()
    end, steps = time.monotonic() + RUN_SECONDS, 0
    while not shutdown.requested.is_set() and time.monotonic() < end:
        with transaction():
            leased = lease_next()
        if leased is None:
            break
        try:
            run_step(leased, transaction)
        except Exception:  # the others go on; this one is tried again, and fails in the end
            log.exception("import %s: a step failed", leased.import_id)
        steps += 1
    return steps


JOBS: Final = (Job(run_imports, every_seconds=EVERY_SECONDS, signal=NEW_WORK),)
