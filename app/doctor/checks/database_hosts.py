"""Whether the hosts that DATABASE_URL names are a primary and its standbys, with equal settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sqlalchemy import URL, make_url

from app.db.postgresql.failover import places_of
from app.db.snapshots import DATABASE_ERRORS, reason, snapshot
from app.doctor.results import Result, ok, problem, warning
from config import Settings

_OF_SEVERAL: Final = ("host", "port", "target_session_attrs", "load_balance_hosts")


class _Host(NamedTuple):
    """What a host said of itself."""

    name: str
    is_standby: bool
    synchronous: str  # its synchronous_standby_names


def database_hosts(settings: Settings) -> Iterator[Result]:
    """One of the hosts accepts changes, and all can take over with the same guarantees."""
    if settings.uses_sqlite:
        yield ok("SQLite has none")
        return
    urls = _urls(make_url(settings.database_url))
    if len(urls) < 2:
        yield ok("DATABASE_URL names one")
        return
    found = []
    for name, url in urls.items():
        try:
            found.append(_ask(name, url))
        except DATABASE_ERRORS as error:
            yield warning(
                f"{name} cannot be used ({reason(error)})",
                "Start it, or take it out of DATABASE_URL: processes that start may wait for it.",
            )
    yield from _judge(found)


def _judge(hosts: list[_Host]) -> Iterator[Result]:
    primaries = [host.name for host in hosts if not host.is_standby]
    synchronous = {host.synchronous for host in hosts}
    if len(primaries) > 1:
        yield problem(
            f"Several hosts accept changes: {', '.join(primaries)}",
            "Stop all but the one that was promoted last, and make them its standbys: "
            "docs/scaling.md.",
        )
    if not primaries:
        yield problem(
            "No host that can be reached accepts changes",
            "Start the primary, or promote a standby: docs/scaling.md.",
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


def _ask(name: str, url: URL) -> _Host:
    with snapshot(url) as connection:
        is_standby, synchronous = connection.exec_driver_sql(
            "SELECT pg_is_in_recovery(), current_setting('synchronous_standby_names')"
        ).one()
        return _Host(name, is_standby, synchronous)


def _urls(url: URL) -> dict[str, URL]:
    """The address of each host, by host and port."""
    _, parameters = url.get_dialect()().create_connect_args(url)
    single = url.difference_update_query(_OF_SEVERAL)
    return {
        f"{host}:{port}": single.set(host=host, port=int(port))
        for host, port in places_of(parameters)
    }
