"""One measurement on SQLite, on PostgreSQL, or on both."""

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


def measure_on_chosen(measure: Measure, mark: str, about: str | None, full: Effort) -> None:
    """Measure on the databases that the command's options choose, print the tables, and write them
    into docs/benchmarks.md if asked to.

    Args:
        mark: of the tables in the document.
        about: the docstring of the command.
        full: the effort without ``--quick``.
    """
    chosen = report.chosen(about)
    effort = QUICK if chosen.quick else full
    sections = {}
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name:
        os.chmod(name, 0o755)
        use_last_core()
        if not chosen.postgres:
            sections["SQLite"] = measure(Path(name) / "sqlite", lambda: "", effort)
        if chosen.postgres or chosen.write:
            with PostgresServer(Path(name) / "pg", durable=True) as server:
                folder = Path(name) / "postgresql"
                sections["PostgreSQL"] = measure(folder, server.create_database, effort)
    for title, tables in sections.items():
        print(f"{title}, on {report.machine()}\n\n{tables}\n")
    if chosen.write:
        report.write(mark, sections)
