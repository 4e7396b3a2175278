"""Ways to read one row: a prepared statement beside SQLAlchemy's own execution.

python -m bench.reading                  both databases; docs/adr/0003-reading.md has the numbers
python -m bench.reading --quick          only sees that it works

Each way reads one project with 51 positions by its id, the same rows in the same run: it takes a
connection from the pool, asks, makes Python values of the row and gives the connection back.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from sqlalchemy import bindparam

from app.auth.tenant import columns_of, rows_of
from app.db import queries
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.factory import create_app
from app.models import Project
from app.projects.record import COLUMNS
from bench.effort import QUICK, Effort
from bench.instance import make_instance
from bench.report import machine
from config import load_settings
from tests.postgres import PostgresServer

FULL: Final = Effort(rounds=15, seconds=0.0)  # it counts reads, not seconds
READS: Final = 1_000  # a round

_STATEMENT = columns_of(Project, *COLUMNS).where(Project.id == bindparam("project_id"))
_PREPARED = CompiledQuery(_STATEMENT)

Way = Callable[[str, str], Any]  # account, project -> row


def driver_alone(account_id: str, project_id: str) -> Any:
    """What the database and its driver cost: no conversion, no names."""
    compiled = _PREPARED._compiled[queries.engine().dialect.name]
    connection = queries.engine().raw_connection()
    cursor = connection.cursor()
    cursor.execute(compiled.text, {"account_id": account_id, "project_id": project_id})
    row = cursor.fetchone()
    cursor.close()
    connection.close()
    return row


def prepared(account_id: str, project_id: str) -> Any:
    row = _PREPARED.first(account_id=account_id, project_id=project_id)
    queries.release()
    return row


def core(account_id: str, project_id: str) -> Any:
    with queries.connect() as connection:
        values = {"account_id": account_id, "project_id": project_id}
        return connection.execute(_STATEMENT, values).first()


def session_columns(account_id: str, project_id: str) -> Any:
    """The same statement in the session's transaction."""
    values = {"account_id": account_id, "project_id": project_id}
    row = db.session.execute(_STATEMENT, values).first()
    db.session.rollback()
    return row


def session_object(account_id: str, project_id: str) -> Any:
    found = db.session.scalars(rows_of(account_id, Project).where(Project.id == project_id)).one()
    db.session.rollback()
    return found


WAYS: dict[str, Way] = {
    "the driver alone": driver_alone,
    "`app.db.queries.CompiledQuery`": prepared,
    "`Connection.execute`, autocommit": core,
    "`Session.execute`, columns": session_columns,
    "`Session.scalars`, an object": session_object,
}


def measure(database_url: str, folder: Path, effort: Effort) -> dict[str, float]:
    """Microseconds a read: the fastest of the rounds, which take turns on a machine with others."""
    instance = make_instance(folder, database_url=database_url)
    app = create_app(load_settings(instance.environ))
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    with app.app_context():
        account_id = db.session.get_one(Project, 1).account_id
        db.session.rollback()
        prepared(account_id, instance.project_ids[0])
        for name, way in WAYS.items():
            if way(account_id, instance.project_ids[0]) is None:
                raise SystemExit(f"{name} does not find the project.")
        reads = effort.number(READS)
        for number in range(effort.rounds + 1):
            for name, way in WAYS.items():
                began = time.perf_counter()
                for read in range(reads):
                    way(account_id, instance.project_ids[read % len(instance.project_ids)])
                if number:  # the first round warms up
                    seconds[name].append((time.perf_counter() - began) / reads)
        db.engine.dispose()
        queries.engine().dispose()
    return {name: 1e6 * min(rounds) for name, rounds in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="only see that it works")
    effort = QUICK if parser.parse_args().quick else FULL
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name:
        os.chmod(name, 0o755)
        columns = {"SQLite": measure("", Path(name) / "sqlite", effort)}
        with PostgresServer(Path(name) / "pg") as server:
            url, folder = server.create_database(), Path(name) / "postgresql"
            columns["PostgreSQL"] = measure(url, folder, effort)
    print(f"On {machine()}; µs a read, and how many times the driver's.\n")
    print("| Way | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
    for way in WAYS:
        cells = [f"{c[way]:.0f} ({c[way] / c['the driver alone']:.1f})" for c in columns.values()]
        print(f"| {way} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
