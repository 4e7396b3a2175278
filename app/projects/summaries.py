"""Summaries of projects, without their boundaries."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import bindparam, func

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.lists.query import ListQuery
from app.lists.statements import ListStatement, list_statement
from app.models import Project
from app.policy.request_limits import PROJECT_STATUSES
from app.projects.listing import TABLE
from app.projects.record import SUMMARY_COLUMNS, not_found, row_summary
from app.values.ids import is_id

_ONE = CompiledQuery(
    columns_of(Project, *SUMMARY_COLUMNS).where(Project.id == bindparam("project_id"))
)


def summarize_project(account_id: str, project_id: str) -> dict[str, Any]:
    """The record of a project, with a box in place of the boundary. Raises NotFound."""
    is_valid = is_id("project", project_id)
    rows = _ONE.tuples(account_id=account_id, project_id=project_id) if is_valid else []
    if not rows:
        raise not_found()
    return row_summary(*rows[0])


def summarize_projects(principal: Principal) -> dict[str, dict[str, Any]]:
    """The number of projects and their hectares, by status."""
    totals: dict[str, dict[str, Any]] = {
        status: {"projects": 0, "hectares": 0.0} for status in PROJECT_STATUSES
    }
    account_id, query = principal.account_id, ListQuery(within=principal.project_ids)
    statement = list_statement(TABLE, query)
    for row in _by_status(statement).all(**statement.values(account_id, account_id, query)):
        totals[row.status] = {"projects": row.projects, "hectares": int(row.area_m2 or 0) / 10_000}
    return totals


@cache
def _by_status(statement: ListStatement) -> CompiledQuery:
    rows = columns_of(Project, Project.status).add_columns(
        func.count().label("projects"), func.sum(Project.area_m2).label("area_m2")
    )
    return CompiledQuery(statement.filtered(rows).group_by(Project.status))
