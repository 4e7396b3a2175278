"""The last run of ``bin/canopy doctor``, for the page of operators. A job runs the checks, as these
may take long, and keeps the findings in Valkey. If it loses them, the next run restores them."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, NamedTuple

from redis import Redis

from app.doctor.findings import Finding, Status
from app.jobs.queue import IMPORTS, enqueue_once
from app.jobs.valkey import valkey
from app.policy.instance import DOCTOR_KEPT, DOCTOR_WITHIN
from app.values import clock
from app.values.strict_json import dumps, loads
from app.values.text import pluralize

JOB: Final = "run-doctor"
_HOUR: Final = 60  # minutes
_DAY: Final = 24 * _HOUR
_FINDINGS: Final = "canopy:doctor:findings"
_REQUESTED: Final = "canopy:doctor:requested"  # exists while somebody waits for a run
_JOB_ID: Final = "periodic-run-doctor"  # as the scheduler's, so that one runs at a time


class DoctorRun(NamedTuple):
    """The last completed run."""

    at: datetime
    host: str
    findings: list[Finding]

    @property
    def age(self) -> str:
        """The time since the run, in words."""
        minutes = int((clock.now() - self.at).total_seconds()) // 60
        if minutes < 1:
            return "less than a minute"
        number, unit = minutes, "minute"
        if minutes >= _DAY:
            number, unit = minutes // _DAY, "day"
        elif minutes >= _HOUR:
            number, unit = minutes // _HOUR, "hour"
        return pluralize(number, unit)

    @property
    def problems(self) -> list[Finding]:
        """The findings that are problems."""
        return self._with_status(Status.PROBLEM)

    @property
    def warnings(self) -> list[Finding]:
        """The findings that are warnings."""
        return self._with_status(Status.WARNING)

    @property
    def others(self) -> list[Finding]:
        """The other findings."""
        return self._with_status(Status.OK)

    def _with_status(self, status: Status) -> list[Finding]:
        return [finding for finding in self.findings if finding.status is status]


class DoctorProgress(NamedTuple):
    """The last run, and whether another one was requested."""

    last: DoctorRun | None  # None: there was none
    is_running: bool


def request_doctor_run() -> bool:
    """Let a worker run the doctor now. Returns False if Valkey does not respond."""
    seconds = int(DOCTOR_WITHIN.total_seconds())

    def request(client: Redis) -> bool:
        client.set(_REQUESTED, "1", ex=seconds)
        enqueue_once(client, JOB, job_id=_JOB_ID, ttl=seconds, queue=IMPORTS, timeout=seconds)
        return True

    return bool(valkey().attempt(request))


def read_progress() -> DoctorProgress | None:
    """Return the progress, or None if Valkey does not respond."""

    def read(client: Redis) -> tuple[Any, Any]:
        run, request = client.mget(_FINDINGS, _REQUESTED)
        return run, request

    values = valkey().attempt(read)
    if values is None:
        return None
    run, request = values
    return DoctorProgress(_doctor_run(loads(run)) if run else None, request is not None)


def store_findings(findings: Iterable[Finding]) -> None:
    """Store the findings of a run that has just ended. Raises RedisError or OSError."""
    record = {
        "at": clock.format_time(clock.now()),
        "host": platform.node(),
        "findings": [finding._asdict() for finding in findings],
    }
    client = valkey().client
    client.set(_FINDINGS, dumps(record), ex=DOCTOR_KEPT)
    client.delete(_REQUESTED)


def _doctor_run(record: dict[str, Any]) -> DoctorRun:
    rows = (row | {"status": Status(row["status"])} for row in record["findings"])
    findings = [Finding(**row) for row in rows]
    return DoctorRun(clock.parse_time(record["at"]), record["host"], findings)
