"""Commits stand at the edge, files stay short, tables need nothing."""

from __future__ import annotations

import pytest

from tests.architecture.code_rules import (
    LARGE_PACKAGES,
    LONGEST_PACKAGE,
    commits,
    large_packages,
    not_standard,
    relative_imports,
    too_long,
)
from tests.architecture.sources import ROOT, sources


def _files() -> dict[str, str]:
    patterns = ("app/**/*.py", "tests/**/*.py", "*.py")
    return {
        str(path.relative_to(ROOT)): path.read_text()
        for pattern in patterns
        for path in ROOT.glob(pattern)
    }


def test_commits_stand_at_the_edge() -> None:
    assert list(commits(sources())) == []


def test_files_are_short() -> None:
    assert list(too_long(_files())) == []


def test_packages_are_small() -> None:
    assert list(large_packages(_files())) == []


def test_each_large_package_needs_its_exception() -> None:
    for package in LARGE_PACKAGES:
        files = {path: text for path, text in _files().items() if path.startswith(f"{package}/")}
        assert sum(text.count("\n") for text in files.values()) > LONGEST_PACKAGE


def test_policy_tables_import_the_standard_library_only() -> None:
    assert list(not_standard(sources())) == []


def test_imports_spell_the_module_out() -> None:
    assert list(relative_imports(sources())) == []


@pytest.mark.parametrize("module", ["app.bees.service", "app.auth.guard", "app.api.envelope"])
def test_a_commit_elsewhere_is_seen(module: str) -> None:
    assert list(commits({module: "def f():\n    db.session.commit()"})) == [f"{module}:2"]


def test_a_transaction_elsewhere_is_seen() -> None:
    fake = {"app.bees.service": "def f():\n    with transaction():\n        fly()"}
    assert list(commits(fake)) == ["app.bees.service:2"]


@pytest.mark.parametrize("module", ["app.bees.routes", "app.bees.jobs", "app.cli.bees"])
def test_a_commit_at_the_edge_passes(module: str) -> None:
    assert list(commits({module: "db.session.commit()"})) == []


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("app/bees/routes.py", 151),
        ("app/bees/service.py", 201),
        ("app/models/bee.py", 101),
        ("app/bees/flight.py", 301),
        ("tests/bees/test_flight.py", 301),
    ],
)
def test_a_long_file_is_seen(path: str, lines: int) -> None:
    assert len(list(too_long({path: "\n" * lines}))) == 1
    assert list(too_long({path: "\n" * (lines - 1)})) == []


def test_a_large_package_is_seen() -> None:
    files = {f"app/bees/{name}.py": "\n" * 400 for name in "abcd"}
    files |= {"app/bees/hive/a.py": "\n" * 400, "app/bee.py": "\n", "tests/bees/a.py": "\n"}
    assert list(large_packages(files)) == []
    assert len(list(large_packages(files | {"app/bees/hive/b.py": "\n"}))) == 1


def test_a_package_with_a_reason_may_be_large() -> None:
    assert not list(large_packages({f"app/cli/{name}.py": "\n" * 300 for name in "abcdefgh"}))


@pytest.mark.parametrize("line", ["import marshmallow", "from app.core import clock"])
def test_a_table_that_imports_more_is_seen(line: str) -> None:
    assert len(list(not_standard({"app.policy.bees": line}))) == 1


def test_a_table_may_import_another_table() -> None:
    source = "from app.policy.plans import PLANS\nimport datetime"
    assert list(not_standard({"app.policy.bees": source})) == []


def test_a_relative_import_is_seen() -> None:
    assert list(relative_imports({"app.bees.service": "from . import flight"}))
