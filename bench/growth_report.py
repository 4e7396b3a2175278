"""The tables of docs/growth.md."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bench.report import machine
from config import ROOT

if TYPE_CHECKING:
    from bench.growth import Measured


def page(measured: Measured, targets: dict[str, float | None]) -> str:
    """What was measured on one database, in Markdown."""
    moment = datetime.now(UTC).strftime("%Y-%m-%d")
    parts = [
        f"Measured {moment} on {machine()}. Medians in milliseconds; the ratios are those of the "
        "last two columns to the first.",
        times(measured, targets),
        "Size of each index, in bytes per project:",
        sizes(measured),
        "Other figures:",
        "\n".join(f"- {note}" for note in measured.notes),
        f"The plans at {measured.columns[-2 if '×' in measured.columns[-1] else -1]} projects:",
        *(f"{what}\n\n```\n{plan}\n```" for what, plan in measured.plans),
    ]
    return "\n\n".join(parts)


def times(measured: Measured, targets: dict[str, float | None]) -> str:
    """A row for each case: its times, their ratios to the first column, the target."""
    columns = measured.columns
    head = "| What | " + " | ".join(columns) + " | Ratio | Target | |"
    lines = [head, "|---|" + "---:|" * (len(columns) + 2) + "---|"]
    for what, by_column in measured.times.items():
        first = by_column[columns[0]]
        ratios = [by_column[column] / first for column in columns[1:]]
        cells = " | ".join(f"{by_column[column]:.2f}" for column in columns)
        shown = ", ".join(f"{ratio:.1f}" for ratio in ratios[-2:])
        target = targets.get(what)
        asked = "" if target is None else f"≤ {target:g}"
        missed = target is not None and max(ratios, default=0) > target
        mark = "" if target is None else "**missed**" if missed else "met"
        lines.append(f"| {what} | {cells} | {shown} | {asked} | {mark} |")
    return "\n".join(lines)


def sizes(measured: Measured) -> str:
    names = sorted({name for by_name in measured.sizes.values() for name in by_name})
    lines = ["| | " + " | ".join(measured.columns) + " |",
             "|---|" + "---:|" * len(measured.columns)]  # fmt: skip
    for name in names:
        cells = " | ".join(
            f"{measured.sizes[column].get(name, 0):,.0f}" for column in measured.columns
        )
        lines.append(f"| `{name}` | {cells} |")
    return "\n".join(lines)


def write(database: str, text: str) -> None:
    """Put the page between its marks in docs/growth.md; the text around them stays."""
    path = ROOT / "docs" / "growth.md"
    begin, end = f"<!-- measured: {database} -->", f"<!-- end: {database} -->"
    whole = path.read_text() if path.exists() else "# Growth\n"
    if begin not in whole:
        whole += f"\n## {database}\n\n{begin}\n{end}\n"
    before, _, rest = whole.partition(begin)
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}")
