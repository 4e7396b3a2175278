"""Commits stand at the edge, tables need nothing."""

from __future__ import annotations

import pytest

from tests.architecture.code_rules import (
    commits,
    not_standard,
    prints,
)
from tests.architecture.sources import sources


def test_commits_stand_at_the_edge() -> None:
    assert list(commits(sources())) == []


def test_commands_print_by_one_function() -> None:
    assert list(prints(sources())) == []
    assert list(prints({"app.cli.bees": "click.echo(name)"})) == ["app.cli.bees:1"]


def test_policy_tables_import_the_standard_library_only() -> None:
    assert list(not_standard(sources())) == []


@pytest.mark.parametrize("module", ["app.bees.service", "app.auth.guard", "app.api.envelope"])
def test_a_commit_elsewhere_is_seen(module: str) -> None:
    assert list(commits({module: "def f():\n    db.session.commit()"})) == [f"{module}:2"]


def test_a_transaction_elsewhere_is_seen() -> None:
    fake = {"app.bees.service": "def f():\n    with transaction():\n        fly()"}
    assert list(commits(fake)) == ["app.bees.service:2"]


@pytest.mark.parametrize("module", ["app.bees.routes", "app.bees.jobs", "app.cli.bees"])
def test_a_commit_at_the_edge_passes(module: str) -> None:
    assert list(commits({module: "db.session.commit()"})) == []


@pytest.mark.parametrize("line", ["import marshmallow", "from app.core import clock"])
def test_a_table_that_imports_more_is_seen(line: str) -> None:
    assert len(list(not_standard({"app.policy.bees": line}))) == 1


def test_a_table_may_import_another_table() -> None:
    source = "from app.policy.plans import PLANS\nimport datetime"
    assert list(not_standard({"app.policy.bees": source})) == []
