"""How measurements are shown, and written down in docs/measured/."""

from __future__ import annotations

import argparse
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from config import ROOT

FOLDER: Final = ROOT / "docs" / "measured"
_HEAD: Final = (
    "| What | Measured | Against, in the same run | Ratio | Target | |\n|---|---|---|---|---|---|"
)


def chosen(about: str | None) -> argparse.Namespace:
    """What the person who measures asked for; ``about`` is the docstring of the command."""
    parser = argparse.ArgumentParser(description=(about or "").split("\n")[0])
    parser.add_argument("--postgres", action="store_true", help="measure on PostgreSQL")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--write", action="store_true", help="write into docs/measured/ too")
    only.add_argument(
        "--quick", action="store_true", help="only see that it works; the figures mean nothing"
    )
    return parser.parse_args()


def table(rows: list[Any]) -> str:
    """The rows as a Markdown table."""
    lines = [_HEAD]
    for row in rows:
        ratio = f"{row.ratio:.2f}" if row.against else ""
        mark = {True: "met", False: "**missed**", None: ""}[row.met]
        lines.append(
            f"| {row.what} | {row.measured} | {row.against} | {ratio} | {row.target} | {mark} |"
        )
    return "\n".join(lines)


def machine() -> str:
    """What the numbers were measured on."""
    cpu = "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(": ")[2] if names else cpu
    packages = ", ".join(f"{name} {version(name)}" for name in ("flask", "gunicorn", "sqlalchemy"))
    return (
        f"{os.cpu_count()} cores of {cpu}, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {packages}"
    )


def publish(name: str, chosen: argparse.Namespace, text: str) -> None:
    """Print what was measured on one database, and write it into docs/measured/ if asked to.

    Args:
        name: of the page, without ``.md``.
        chosen: the options of the command, of which ``postgres`` and ``write`` are used.
    """
    database = "PostgreSQL" if chosen.postgres else "SQLite"
    print(f"{database}, on {machine()}\n\n{text}\n")
    if chosen.write:
        write(FOLDER / f"{name}.md", database, text)


def write(page: Path, database: str, text: str) -> None:
    """Replace what stands between a database's marks in a page; the text around them stays.

    Raises:
        SystemExit: the page has no such marks.
    """
    begin, end = f"<!-- measured: {database} -->", f"<!-- end: {database} -->"
    whole = page.read_text()
    before, begins, rest = whole.partition(begin)
    _, ends, after = rest.partition(end)
    if not (begins and ends):
        raise SystemExit(f"{page} has no {begin} with {end} below it.")
    measured = f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine()}."
    page.write_text(f"{before}{begin}\n\n{measured}\n\n{text}\n\n{end}{after}")
