"""Checks of PostgreSQL with pgbouncer, or on several hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sqlalchemy import URL, Connection, make_url

from app.db.postgresql.connection import session_values, set_statement
from app.db.postgresql.failover import places_of
from app.db.postgresql.pool_mode import shares_connections
from app.db.snapshots import DATABASE_ERRORS, error_reason, open_snapshot
from app.doctor.findings import Finding, ok, problem, warning
from config import Settings

_OF_SEVERAL: Final = ("host", "port", "target_session_attrs", "load_balance_hosts")


def pool_mode(connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Check that PGBOUNCER_POOL_MODE fits DATABASE_URL. In transaction mode, also check the
    settings of the role, which statements outside of a transaction have."""
    if connection.dialect.name == "sqlite":
        yield ok("SQLite has no pgbouncer")
    elif settings.pgbouncer_pool_mode == "transaction":
        yield _role_settings(connection, session_values(settings.database_timeout_ms))
    elif shares_connections(settings.database_url):
        yield problem(
            "DATABASE_URL leads to a pgbouncer in transaction mode, and PGBOUNCER_POOL_MODE is "
            "session: requests fail, and may read what others asked for",
            "Set PGBOUNCER_POOL_MODE=transaction for every web server and worker.",
        )
    else:
        yield ok("no pgbouncer in transaction mode")


def _role_settings(connection: Connection, needed: dict[str, str]) -> Finding:
    """Compare the settings of the role with those that our transactions set."""
    connection.exec_driver_sql(set_statement(needed, is_local=True))
    differing = connection.exec_driver_sql(
        "SELECT lower(name) FROM pg_settings WHERE lower(name) = ANY(%s) AND setting <> reset_val",
        (list(needed),),
    )
    names = set(differing.scalars())
    if not names:
        return ok("transaction mode, and the role has the settings of the service")
    role = connection.exec_driver_sql("SELECT quote_ident(current_user)").scalar_one()
    statements = [
        f"ALTER ROLE {role} SET {name} = '{value}';"
        for name, value in needed.items()
        if name in names
    ]
    return warning(
        "In transaction mode, reads have the settings of the role, which are others: "
        + ", ".join(name for name in needed if name in names),
        f"Run on PostgreSQL: {' '.join(statements)} Then restart pgbouncer.",
    )


class _Host(NamedTuple):
    """The state of a host."""

    name: str
    is_standby: bool
    synchronous: str  # its synchronous_standby_names


def database_hosts(settings: Settings) -> Iterator[Finding]:
    """Check that one of the hosts accepts changes, and the others can take over like it."""
    if settings.uses_sqlite:
        yield ok("SQLite has none")
        return
    urls = _host_urls(make_url(settings.database_url))
    if len(urls) < 2:
        yield ok("DATABASE_URL names one")
        return
    hosts = []
    for name, url in urls.items():
        try:
            hosts.append(_read_host(name, url))
        except DATABASE_ERRORS as error:
            yield warning(
                f"{name} cannot be used ({error_reason(error)})",
                "Start it, or take it out of DATABASE_URL: processes that start may wait for it.",
            )
    yield from _judge_hosts(hosts)


def _judge_hosts(hosts: list[_Host]) -> Iterator[Finding]:
    primaries = [host.name for host in hosts if not host.is_standby]
    synchronous = {host.synchronous for host in hosts}
    if len(primaries) > 1:
        yield problem(
            f"Several hosts accept changes: {', '.join(primaries)}",
            "Stop all but the one that was promoted last, and make them its standbys: "
            "/docs/guides/scaling says how.",
        )
    if not primaries:
        yield problem(
            "No host that can be reached accepts changes",
            "Start the primary, or promote a standby: /docs/guides/scaling says how.",
        )
    if len(synchronous) > 1:
        values = ", ".join(f"{host.name} has '{host.synchronous}'" for host in hosts)
        yield warning(
            f"synchronous_standby_names differs: {values}",
            "Set it alike on all of them: each may become the primary.",
        )
    if len(primaries) == 1 and len(synchronous) == 1:
        roles = (f"{host.name} {'standby' if host.is_standby else 'primary'}" for host in hosts)
        yield ok(", ".join(roles))


def _read_host(name: str, url: URL) -> _Host:
    with open_snapshot(url) as connection:
        is_standby, synchronous = connection.exec_driver_sql(
            "SELECT pg_is_in_recovery(), current_setting('synchronous_standby_names')"
        ).one()
        return _Host(name, is_standby, synchronous)


def _host_urls(url: URL) -> dict[str, URL]:
    """Return the URL of each host, by host and port."""
    _, parameters = url.get_dialect()().create_connect_args(url)
    single = url.difference_update_query(_OF_SEVERAL)
    return {
        f"{host}:{port}": single.set(host=host, port=int(port))
        for host, port in places_of(parameters)
    }
