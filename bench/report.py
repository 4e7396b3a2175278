"""How measurements are shown, and written down in docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from config import ROOT

_HEAD = (
    "| What | Measured | Against, in the same run | Ratio | Target | |\n|---|---|---|---|---|---|"
)


def chosen(about: str | None) -> argparse.Namespace:
    """What the person who measures asked for; ``about`` is the docstring of the command."""
    parser = argparse.ArgumentParser(description=(about or "").split("\n")[0])
    parser.add_argument("--postgres", action="store_true", help="measure on PostgreSQL")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
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


def write(mark: str, sections: dict[str, str]) -> None:
    """Put sections between the marks of docs/benchmarks.md; the text around them stays."""
    path = ROOT / "docs" / "benchmarks.md"
    begin, end = f"<!-- measured: {mark} -->", f"<!-- end: {mark} -->"
    text = path.read_text()
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    moment = datetime.now(UTC).strftime("%Y-%m-%d")
    parts = [f"Measured {moment} on {machine()}."]
    parts += [f"### {name}\n\n{tables}" for name, tables in sections.items()]
    path.write_text(f"{before}{begin}\n\n" + "\n\n".join(parts) + f"\n\n{end}{after}")
