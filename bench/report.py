"""How much a bench measures, and how it shows what it found."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from tests.postgres import PostgresServer


@dataclass(frozen=True)
class Effort:
    """What a bench may spend: enough for a figure, or just enough to see that it works."""

    rounds: int  # after one that warms up
    seconds: float  # of one measurement
    share: float = 1.0  # of the numbers of requests, projects and so on

    def number(self, full: int) -> int:
        """So many of something that a full run has ``full`` of; at least one."""
        return max(1, round(full * self.share))


QUICK: Final = Effort(rounds=1, seconds=0.1, share=0.02)
# Gets a folder of its own, and a function that gives the address of a new database each time; that
# of SQLite is empty. Returns tables.
Measure = Callable[[Path, Callable[[], str], Effort], str]


@dataclass(frozen=True)
class Row:
    """One measured target: what, how much, against what, and what was asked for."""

    what: str
    measured: str
    against: str
    ratio: float
    target: str
    met: bool | None


def measure(run: Measure, about: str | None, full: Effort) -> None:
    """Measure on the database that the options of the command choose, and print the tables.

    Args:
        about: the docstring of the command.
        full: the effort without ``--quick``.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--postgres", action="store_true", help="measure on PostgreSQL")
    parser.add_argument("--quick", action="store_true", help="only see that it works")
    chosen = parser.parse_args()
    effort = QUICK if chosen.quick else full
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if chosen.postgres:
            with PostgresServer(folder / "pg") as server:
                text = run(folder / "instance", server.create_database, effort)
        else:
            text = run(folder / "instance", lambda: "", effort)
    database = "PostgreSQL" if chosen.postgres else "SQLite"
    print(f"{database}, on {machine()}\n\n{text}")


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| What | Measured | Against, in the same run | Ratio | Target | |"]
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        ratio = f"{row.ratio:.2f}" if row.against else ""
        mark = "" if row.met is None else judged(row.met)
        lines.append(
            f"| {row.what} | {row.measured} | {row.against} | {ratio} | {row.target} | {mark} |"
        )
    return "\n".join(lines)


def judged(is_met: bool) -> str:
    return "met" if is_met else "**missed**"


def machine() -> str:
    """What the numbers were measured on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    cpu = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "?")
    packages = ", ".join(f"{name} {version(name)}" for name in ("flask", "gunicorn", "sqlalchemy"))
    return (
        f"{os.cpu_count()} cores of {cpu}, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {packages}"
    )
