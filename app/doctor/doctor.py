"""Finding out what is wrong with an instance, also when most of it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

from redis.exceptions import RedisError
from sqlalchemy import URL

from app.db.snapshots import DATABASE_ERRORS, database_url, may_exist, reason, shown_url, snapshot
from app.doctor.checks import contents, database, deliveries, host, mail, valkey
from app.doctor.results import Result, Status, problem, warning
from app.jobs.valkey import connect
from config import Settings, SettingsError, load_settings, setting_faults

Check = Callable[..., Iterator[Result]]
Ready = Callable[[], Iterator[Result]]  # a check with what it needs

# Every check by its name, in the order in which they are made.
OF_HOST: Final[dict[str, Check]] = {
    "python": host.python_version,
    "dependencies": host.dependencies,
}
OF_SETTINGS: Final[dict[str, Check]] = {
    "settings": host.settings,
    "plans": host.plans,
    "instance folder": host.instance,
    "disk": host.disk,
    "mail server": mail.server,
}
OF_DATABASE: Final[dict[str, Check]] = {
    "database": database.reachable,
    "database clock": database.clock,
    "schema": database.schema,
    "integrity": database.integrity,
    "indexes": database.indexes,
    "counters": contents.counters,
    "derived columns": contents.derived,
    "mails": mail.undelivered,
    "deliveries": deliveries.overdue,
}
OF_VALKEY: Final[dict[str, Check]] = {
    "store": valkey.reachable,
    "store clock": valkey.server_clock,
    "worker": valkey.worker,
    "request counts": valkey.request_counts,
}
# Without these the checks after them, of the same table, are not made.
NEEDED: Final = ("database", "schema", "store")


class DoctorFinding(NamedTuple):
    """What a check found."""

    name: str
    result: Result

    @property
    def is_problem(self) -> bool:
        return self.result.status is Status.PROBLEM


def examine(environ: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """Make every check, and give what each finds as soon as it has.

    Args:
        environ: the environment that the settings are read from.
    """
    yield from _made(OF_HOST)
    try:
        settings = load_settings(environ)
    except SettingsError as error:
        for sentence in setting_faults(environ) or [str(error)]:
            yield DoctorFinding("settings", problem(sentence, "Change it and run doctor again."))
        rest = OF_SETTINGS | OF_DATABASE | OF_VALKEY
        yield from _passed_over([name for name in rest if name != "settings"], "settings")
        return
    yield from _made({name: partial(check, settings) for name, check in OF_SETTINGS.items()})
    url = database_url(settings)
    yield from _made(
        {name: partial(_in_database, url, check) for name, check in OF_DATABASE.items()}
    )
    reachable = partial(valkey.reachable, is_embedded=settings.redis_url is None)
    of_valkey = OF_VALKEY | {"store": reachable}
    yield from _made(
        {name: partial(_in_valkey, settings, check) for name, check in of_valkey.items()}
    )


def _made(checks: dict[str, Ready]) -> Iterator[DoctorFinding]:
    for place, (name, check) in enumerate(checks.items()):
        findings = [DoctorFinding(name, result) for result in check()]
        yield from findings
        if name in NEEDED and any(found.result.advice for found in findings):
            yield from _passed_over(list(checks)[place + 1 :], name)
            return


def _passed_over(names: Iterable[str], missing: str) -> Iterator[DoctorFinding]:
    for name in names:
        advice = f"First solve what was found about: {missing}."
        yield DoctorFinding(name, warning("not looked at", advice))


def _in_database(url: URL, check: Check) -> Iterator[Result]:
    """A check on the database as it is at one moment."""
    if not may_exist(url):
        yield problem(
            f"There is no database {shown_url(url)} yet",
            "bin/canopy migrate or bin/serve makes it.",
        )
        return
    try:
        with snapshot(url) as connection:
            yield from check(connection)
    except DATABASE_ERRORS as error:
        yield problem(
            f"The database {shown_url(url)} cannot be used ({reason(error)})",
            "Start it or set DATABASE_URL right; a damaged one is replaced from a backup.",
        )


def _in_valkey(settings: Settings, check: Check) -> Iterator[Result]:
    """A check on Valkey, which is not started for it."""
    try:
        url = valkey.url_of(settings)
        if url is None:
            yield valkey.not_running()
            return
        client = connect(url)
        try:
            yield from check(client)
        finally:
            client.close()
    except (RedisError, OSError) as error:
        yield valkey.unreachable(settings, error)
