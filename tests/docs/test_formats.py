"""The README, the pages on files and the help of a command name every format there is."""

from __future__ import annotations

import re
from inspect import getdoc

from app.cli.exporting import export_records_command
from app.policy.files import FORMATS_IN, FORMATS_OUT
from config import ROOT


def column(page: str, heading: str) -> list[str]:
    """The first cells of the table in a page of docs/ whose first heading is this one."""
    text = (ROOT / "docs" / page).read_text()
    rows = text.partition(f"\n| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [row.split("|")[1].strip() for row in rows]


def test_the_page_on_imports_has_a_row_for_each() -> None:
    named = [name for cell in column("import-formats.md", "Format") for name in cell.split(", ")]
    besides = {"newline-delimited geojson"}  # another name of a text sequence
    assert {name.lower() for name in named} - besides == {
        name.lower() for name in FORMATS_IN.values()
    }


def test_the_readme_names_each_that_is_read() -> None:
    section = (ROOT / "README.md").read_text().partition("\n## Your own forests\n")[2]
    sentence = " ".join(section.partition(".")[0].split())
    *others, last = FORMATS_IN.values()
    assert sentence.endswith(f": {', '.join(others)} or {last}")


def test_the_page_on_exports_has_a_row_for_each() -> None:
    assert column("exports.md", "`format`") == [f"`{name}`" for name in FORMATS_OUT]


def test_the_help_of_the_command_explains_each_that_is_written() -> None:
    text = getdoc(export_records_command.callback) or ""
    sentence = text.partition("The formats are those of GET /v1/exports: ")[2].partition(".")[0]
    assert [name for name in FORMATS_OUT if not re.search(rf"\b{name}\b", sentence)] == []
