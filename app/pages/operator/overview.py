"""The numbers, queues, versions and settings on the first page of operators."""

from __future__ import annotations

import platform
from typing import Any, Final, NamedTuple

from redis import Redis
from sqlalchemy import and_, case, func, select

from app.db.queries import CompiledQuery, reading_connection
from app.db.revisions import current_revision, newest_revision
from app.doctor.backups import read_history
from app.jobs.queue import DELIVERIES, GENERAL, IMPORTS, MAILS, job_queue
from app.jobs.valkey import valkey
from app.models import AccountUsage, Mail, User
from app.outbound.switch import how_to_send
from app.pages.operator.accounts import SUMMED
from app.processes.worker_registry import count_workers
from app.settings.current import current_settings
from app.usage.counters import usage_summary
from app.values.version import VERSION, describe_version, read_commit
from app.webhooks.deliveries.metrics import read_backlog

_VERSION: Final = describe_version(VERSION, read_commit())  # not of code that is newer on the disk
_QUEUES: Final = {
    GENERAL: "Counts and cleanup",
    DELIVERIES: "Deliveries to webhooks",
    IMPORTS: "Imports and checks of the instance",
    MAILS: "Emails",
}
_TOTALS: Final = CompiledQuery(
    select(
        func.count().label("accounts"),
        *(func.coalesce(func.sum(column), 0).label(column.key) for column in SUMMED),
    ).select_from(AccountUsage)
)
_PEOPLE: Final = CompiledQuery(select(func.count()).select_from(User))
_HAS_FAILED: Final = and_(Mail.due_at.is_(None), Mail.sent_at.is_(None), Mail.error.is_not(None))
_MAILS: Final = CompiledQuery(
    select(
        func.count(Mail.due_at).label("waiting"),
        func.coalesce(func.sum(case((_HAS_FAILED, 1), else_=0)), 0).label("failed"),
        func.max(Mail.sent_at).label("last_sent_at"),
    )
)


class Numbers(NamedTuple):
    """Totals of the instance. Hectares are without archived projects."""

    accounts: int
    people: int
    projects: int
    hectares: float


class QueueState(NamedTuple):
    """A queue of jobs: its purpose, its workers, and how many jobs wait or failed recently."""

    purpose: str
    workers: int
    waiting: int
    failed: int


class ValkeyState(NamedTuple):
    """The name of the server, Valkey or Redis, its version, and its queues of jobs."""

    name: str
    version: str
    queues: list[QueueState]


class Versions(NamedTuple):
    """Versions. ``revision`` is the database's, ``newest_revision`` the code's."""

    canopy: str
    python: str
    database: str
    revision: str | None
    newest_revision: str


def read_overview() -> dict[str, Any]:
    """Return the variables of the page."""
    with reading_connection() as connection:
        backups = read_history(connection)
    return {
        "numbers": _instance_numbers(),
        "valkey": valkey().attempt(_valkey_state),
        "backlog": read_backlog(),
        "mails": _MAILS.first(),
        "backups": backups,
        "versions": _instance_versions(),
        "settings": _settings_texts(),
        "how_to_send": how_to_send(current_settings()),
    }


def _instance_numbers() -> Numbers:
    row = _TOTALS.first()
    usage = usage_summary(row)
    people = int(_PEOPLE.scalar())
    return Numbers(int(row.accounts), people, int(usage["projects"]), float(usage["hectares"]))


def _valkey_state(client: Redis) -> ValkeyState:
    """Raises RedisError or OSError."""
    server: Any = client.info("server")
    name = str(server.get("server_name", "redis")).capitalize()
    workers = count_workers(client)
    queues = []
    for queue, purpose in _QUEUES.items():
        jobs = job_queue(client, queue)
        failed = jobs.failed_job_registry.get_job_count(cleanup=False)
        queues.append(QueueState(purpose, workers[queue], jobs.count, failed))
    return ValkeyState(name, server.get("valkey_version", server["redis_version"]), queues)


def _instance_versions() -> Versions:
    with reading_connection() as connection:
        name, statement = (
            ("SQLite", "SELECT sqlite_version()")
            if connection.dialect.name == "sqlite"
            else ("PostgreSQL", "SHOW server_version")
        )
        database = f"{name} {connection.exec_driver_sql(statement).scalar_one()}"
    return Versions(
        _VERSION, platform.python_version(), database, current_revision(), newest_revision()
    )


def _settings_texts() -> dict[str, str]:
    """The settings that operators look for, as text, without secrets."""
    settings = current_settings()
    server = settings.mail_url
    mail = f"{server.host}:{server.port}" if server else "not set: emails are saved as files"
    sso = f"{settings.oidc_name} ({settings.oidc_issuer})" if settings.oidc_issuer else "not set"
    return {
        "PUBLIC_URL": settings.public_url,
        "SIGN_UP": settings.sign_up,
        "DEFAULT_PLAN": settings.default_plan,
        "MAIL_URL": mail,
        "MAIL_FROM": settings.mail_from.address,
        "OIDC_ISSUER": sso,
    }
