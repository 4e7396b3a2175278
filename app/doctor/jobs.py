"""The job that runs the doctor."""

from __future__ import annotations

import os
from typing import Final

from app.doctor.backups import JOBS as BACKUP_JOBS
from app.doctor.doctor_runs import store_findings
from app.jobs import shutdown
from app.jobs.queue import IMPORTS
from app.jobs.registry import Job
from app.policy.instance import DOCTOR_EVERY, DOCTOR_WITHIN


def run_doctor() -> int:
    """Run the checks of ``bin/canopy doctor`` and store their findings. Returns the number of
    findings; 0 if the worker is asked to stop."""
    from app.doctor.doctor import run_checks  # noqa: PLC0415 - most processes do not need it

    findings = []
    for finding in run_checks(os.environ):
        if shutdown.requested.is_set():
            return 0
        findings.append(finding)
    store_findings(findings)
    return len(findings)


# In the queue of imports, as it may take minutes, for which mails must not wait.
JOBS: Final = (
    *BACKUP_JOBS,
    Job(
        run_doctor,
        every_seconds=int(DOCTOR_EVERY.total_seconds()),
        queue=IMPORTS,
        timeout=int(DOCTOR_WITHIN.total_seconds()),
    ),
)
