"""Running all checks of an instance, even if most of its parts are broken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from redis.exceptions import RedisError
from sqlalchemy import URL

from app.db.snapshots import DATABASE_ERRORS, database_url, error_reason, open_snapshot, shown_url
from app.doctor.backups import check_backups
from app.doctor.checks import (
    addresses,
    audit_log,
    basemap,
    contents,
    database,
    deliveries,
    host,
    mail,
    maps,
    postgresql,
    single_sign_on,
    valkey,
)
from app.doctor.findings import Finding, problem, warning
from app.jobs.valkey import connect_valkey
from app.values.command_name import canopy_command
from config import Settings, SettingsError, load_settings, setting_faults, unused_settings

Check = Callable[..., Iterator[Finding]]
BoundCheck = Callable[[], Iterator[Finding]]  # a check with its arguments

# All checks by name, in the order in which they run.
OF_HOST: Final[dict[str, Check]] = {
    "python": host.python_version,
    "dependencies": host.check_dependencies,
    "set-up": host.made_files,
}
OF_SETTINGS: Final[dict[str, Check]] = {
    "settings": host.check_settings,
    "plans": host.check_plans,
    "instance folder": host.check_instance_folder,
    "disk": host.check_disk,
    "port": addresses.check_port,
    "public address": addresses.public_url,
    "mail server": mail.check_mail_server,
    "single sign-on": single_sign_on.check_provider,
    "database hosts": postgresql.database_hosts,
}
OF_DATABASE: Final[dict[str, Check]] = {
    "database": database.check_database_server,
    "pool mode": postgresql.pool_mode,
    "database clock": database.check_clock,
    "schema": database.check_schema,
    "integrity": database.check_integrity,
    "indexes": database.check_indexes,
    "backups": check_backups,
    "counters": contents.check_counters,
    "encrypted values": contents.check_encrypted_values,
    "derived columns": contents.check_derived_values,
    "maps": maps.check_layers,
    "outbound": deliveries.check_outbound,
    "mails": mail.check_undelivered_mails,
    "deliveries": deliveries.check_overdue_deliveries,
    "audit log": audit_log.check_sealing,
    "own map": basemap.check_basemap,
}
_WITH_SETTINGS: Final = (  # of these
    "pool mode", "backups", "encrypted values", "maps", "outbound", "mails", "deliveries",
    "own map",
)  # fmt: skip
OF_VALKEY: Final[dict[str, Check]] = {
    "valkey": valkey.check_valkey_server,
    "valkey clock": valkey.server_clock,
    "worker": valkey.check_workers,
    "secret keys": valkey.secret_keys,
    "request counts": valkey.request_counts,
}
# If one of these has advice, the checks after it in the same table are skipped.
REQUIRED: Final = ("database", "schema", "valkey")
SKIPPED: Final = "skipped"  # the finding with the number of these
_CORRECT_SETTING: Final = f"Correct it and run {canopy_command()} doctor again."
_UNUSED: Final = "Unset it, or correct its name; docs/settings.md lists all settings."
_WORDS: Final = {"valkey": "connection to Valkey"}


def run_checks(
    environ: Mapping[str, str], names: Collection[str] | None = None
) -> Iterator[Finding]:
    """Run all checks, and yield each finding at once.

    Args:
        environ: has the settings.
        names: those in the file of settings, as for ``config.unused_settings``.
    """
    yield from _run_checks(OF_HOST)
    try:
        settings = load_settings(environ, creates=False)
    except SettingsError as error:
        for sentence in setting_faults(environ) or [str(error)]:
            yield problem(sentence, _CORRECT_SETTING)._replace(check="settings")
        rest = OF_SETTINGS | OF_DATABASE | OF_VALKEY
        yield from _skip_checks([name for name in rest if name != "settings"], "settings")
        return
    for sentence in unused_settings(environ, names):
        yield warning(sentence, _UNUSED)._replace(check="settings")
    yield from _run_checks({name: partial(check, settings) for name, check in OF_SETTINGS.items()})
    url = database_url(settings)
    of_database = OF_DATABASE | {
        name: partial(OF_DATABASE[name], settings=settings) for name in _WITH_SETTINGS
    }
    yield from _run_checks(
        {name: partial(_in_database, url, check) for name, check in of_database.items()}
    )
    of_valkey = OF_VALKEY | {
        "valkey": partial(valkey.check_valkey_server, settings=settings),
        "secret keys": partial(valkey.secret_keys, settings=settings),
    }
    yield from _run_checks(
        {name: partial(_in_valkey, settings, check) for name, check in of_valkey.items()}
    )


def _run_checks(checks: dict[str, BoundCheck]) -> Iterator[Finding]:
    for index, (name, check) in enumerate(checks.items()):
        findings = [finding._replace(check=name) for finding in check()]
        yield from findings
        if name in REQUIRED and any(finding.advice for finding in findings):
            yield from _skip_checks(list(checks)[index + 1 :], name)
            return


def _skip_checks(names: Sequence[str], missing: str) -> Iterator[Finding]:
    if names:
        checks = "1 check was" if len(names) == 1 else f"{len(names)} checks were"
        sentence = f"{checks} skipped: fix the {_WORDS.get(missing, missing)} first"
        yield warning(sentence, "")._replace(check=SKIPPED)


def _in_database(url: URL, check: Check) -> Iterator[Finding]:
    """Run a check on a snapshot of the database."""
    try:
        with open_snapshot(url) as connection:
            yield from check(connection)
    except DATABASE_ERRORS as error:
        cause = error_reason(error, url)
        advice = "Start it, or correct DATABASE_URL. If it is damaged, restore a backup."
        if "disk is full" in cause:
            advice = "Free some space."
        yield problem(f"The database {shown_url(url)} cannot be used ({cause})", advice)


def _in_valkey(settings: Settings, check: Check) -> Iterator[Finding]:
    """Run a check on Valkey, without starting it."""
    try:
        url = valkey.url_of(settings)
        if url is None:
            yield valkey.not_running()
            return
        try:
            client = connect_valkey(url, timeout=valkey.WAITS_SECONDS)
        except ValueError as error:
            yield problem(f"REDIS_URL cannot be used: {error}", _CORRECT_SETTING)
            return
        try:
            yield from check(client)
        finally:
            client.close()
    except (RedisError, OSError) as error:
        yield valkey.valkey_unreachable(settings, error)
