"""How the benchmarks write what they measured into docs/measured/."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from bench import report
from config import ROOT

PAGE = """\
# Trees

Measured with a ruler.

## SQLite

<!-- measured: SQLite -->

old

<!-- end: SQLite -->

## PostgreSQL

<!-- measured: PostgreSQL -->

old as well

<!-- end: PostgreSQL -->
"""
_NAMED = re.compile(r'(?:publish|measure_on_chosen)\([^")]*"([\w-]+)"')


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(report, "FOLDER", tmp_path)
    made = tmp_path / "trees.md"
    made.write_text(PAGE)
    return made


def options(*, postgres: bool, write: bool) -> argparse.Namespace:
    return argparse.Namespace(postgres=postgres, write=write)


def test_the_tables_of_one_database_are_renewed(page: Path) -> None:
    report.publish("trees", options(postgres=True, write=True), "| oak | 23 m |")
    before, _, after = page.read_text().partition("<!-- measured: PostgreSQL -->\n")
    assert before == PAGE.partition("<!-- measured: PostgreSQL -->\n")[0]
    lines = after.split("\n\n")
    assert re.fullmatch(r"\nMeasured \d{4}-\d\d-\d\d on .*\.", lines[0])
    assert lines[1:] == ["| oak | 23 m |", "<!-- end: PostgreSQL -->\n"]


def test_nothing_is_written_unasked(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report.publish("trees", options(postgres=False, write=False), "| oak | 23 m |")
    assert page.read_text() == PAGE
    assert "| oak | 23 m |" in capsys.readouterr().out


@pytest.mark.parametrize("mark", ["<!-- measured: SQLite -->", "<!-- end: SQLite -->"])
def test_a_page_without_marks_is_refused(page: Path, mark: str) -> None:
    page.write_text(PAGE.replace(mark, ""))
    with pytest.raises(SystemExit, match="measured: SQLite"):
        report.write(page, "SQLite", "| oak | 23 m |")


def test_every_benchmark_that_writes_has_its_page() -> None:
    sources = [path.read_text() for path in (ROOT / "bench").glob("*.py")]
    names = {name for source in sources for name in _NAMED.findall(source)}
    assert {"http", "audit-log", "growth"} <= names
    for name in names:
        page = (report.FOLDER / f"{name}.md").read_text()
        for database in ("SQLite", "PostgreSQL"):
            assert f"<!-- measured: {database} -->\n" in page, name
            assert f"\n<!-- end: {database} -->\n" in page, name
