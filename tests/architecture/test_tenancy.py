"""Rows of accounts are reached through the tenant filter, by what stands in the code.

What is sent is judged too: ``tests/leaks.py``.
"""

from __future__ import annotations

import pytest

from tests.architecture.sources import sources
from tests.architecture.tenancy import EXCEPTIONS, TENANT_MODELS, around_the_filter, statements

TOP = "from app.models import Account, Project\nfrom app.db.extensions import db\n"


def _faults(text: str, **more: str) -> list[str]:
    modules = {f"app.bees.{name}": source for name, source in more.items()}
    return list(around_the_filter({"app.bees.service": TOP + text} | modules))


def test_no_statement_goes_around_the_tenant_filter() -> None:
    assert list(around_the_filter(sources())) == []


def test_each_exception_is_needed() -> None:
    found = {place for place, _ in statements(sources())}
    assert [place for place in EXCEPTIONS if place not in found] == []


def test_the_models_of_accounts_are_known() -> None:
    assert {"Project", "Asset", "Event", "Credential"} <= TENANT_MODELS
    assert "Account" not in TENANT_MODELS


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    select(Project)",
        "def f():\n    fenced_rows([Project.id])",
        "def f():\n    select(Project.id).where(Project.account_id == 1)",
        "def f():\n    sa.delete(Project)",
        "def f():\n    db.session.get(Project, 1)",
        "def f():\n    db.session.query(Project.name)",
        "def f():\n    Project.query.all()",
        "def f():\n    table = Project.__table__\n    select(table.c.id)",
        "T = cast('Table', Project.__table__)\ndef f():\n    return update(T)",
        "COLUMNS = (Project.id, Project.name)\nALL = select(*COLUMNS)",
        "def f():\n    with g():\n        insert(Project)",
        "select(Project)",
    ],
)
def test_a_statement_on_a_table_of_accounts_is_seen(text: str) -> None:
    assert len(_faults(text)) == 1


def test_columns_that_come_from_another_module_are_seen() -> None:
    record = TOP + "COLUMNS = (Project.id,)"
    text = "from app.bees.record import COLUMNS as C\ndef f():\n    select(*C)"
    assert len(_faults(text, record=record)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    rows_of('acct', Project)",
        "def f():\n    columns_of(Project, Project.id)",
        "def f():\n    select(Account)",
        "def f():\n    db.session.add(Project())",
        "def f():\n    d = {}\n    d.get(Project)",
        "def f():\n    p = find_locked(a, Project, i) if i else None\n    db.session.delete(p)",
    ],
)
def test_what_is_no_statement_around_the_filter_passes(text: str) -> None:
    assert _faults(text) == []
