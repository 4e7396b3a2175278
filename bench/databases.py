"""One measurement on SQLite or on PostgreSQL."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import report
from bench.effort import QUICK, Effort
from bench.servers import use_last_core
from tests.postgres import PostgresServer

# Gets a folder of its own, and a function that gives the address of a new database each time; that
# of SQLite is empty. Returns tables.
Measure = Callable[[Path, Callable[[], str], Effort], str]


def measure_on_chosen(measure: Measure, name: str, about: str | None, full: Effort) -> None:
    """Measure on the database that the command's options choose, and publish the tables.

    Args:
        name: of the page in docs/measured/.
        about: the docstring of the command.
        full: the effort without ``--quick``.
    """
    chosen = report.chosen(about)
    effort = QUICK if chosen.quick else full
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as folder:
        os.chmod(folder, 0o755)
        use_last_core()
        if chosen.postgres:
            with PostgresServer(Path(folder) / "pg", durable=True) as server:
                text = measure(Path(folder) / "postgresql", server.create_database, effort)
        else:
            text = measure(Path(folder) / "sqlite", lambda: "", effort)
    report.publish(name, chosen, text)
