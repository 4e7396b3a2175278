"""Whether the service knows of a pgbouncer in transaction mode, and the role has our settings."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from app.db.postgresql.connection import session_values, set_statement
from app.db.postgresql.pool_mode import shares_connections
from app.doctor.results import Result, ok, problem, warning
from config import Settings


def pool_mode(connection: Connection, settings: Settings) -> Iterator[Result]:
    """PGBOUNCER_POOL_MODE is what it has to be. In transaction mode, statements outside of a
    transaction have the settings of the role."""
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


def _role_settings(connection: Connection, wanted: dict[str, str]) -> Result:
    """Compare what the role begins with and what our transactions set."""
    connection.exec_driver_sql(set_statement(wanted, is_local=True))
    differing = connection.exec_driver_sql(
        "SELECT lower(name) FROM pg_settings WHERE lower(name) = ANY(%s) AND setting <> reset_val",
        (list(wanted),),
    )
    names = set(differing.scalars())
    if not names:
        return ok("transaction mode, and the role has the settings of the service")
    role = connection.exec_driver_sql("SELECT quote_ident(current_user)").scalar_one()
    statements = [
        f"ALTER ROLE {role} SET {name} = '{value}';"
        for name, value in wanted.items()
        if name in names
    ]
    return warning(
        "In transaction mode, reads have the settings of the role, which are others: "
        + ", ".join(name for name in wanted if name in names),
        f"Run on PostgreSQL: {' '.join(statements)} Then restart pgbouncer.",
    )
