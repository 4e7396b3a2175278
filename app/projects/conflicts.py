"""Two projects of one account with the same slug, or the same external id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import bindparam
from sqlalchemy.exc import IntegrityError

from app.auth.tenant import columns_of
from app.db.engines import violated_constraint
from app.db.queries import CompiledQuery
from app.http.errors import Conflict, Detail
from app.models import Project

_CONSTRAINTS: Final = {
    "uq_projects_account_id_slug": "slug",
    "projects.account_id, projects.slug": "slug",
    "ix_projects_account_id_external_id": "external_id",
    "projects.account_id, projects.external_id": "external_id",
}
_OTHER: Final = {
    column: CompiledQuery(
        columns_of(Project, Project.id).where(getattr(Project, column) == bindparam("value"))
    )
    for column in ("slug", "external_id")
}
_MESSAGES: Final = {
    "slug": "The slug of this name, {value!r}, is taken by {other}. Choose another name.",
    "external_id": "The external id {value!r} is taken by {other}. Choose another one.",
}


@contextmanager
def naming_conflicts(row: Mapping[str, Any]) -> Iterator[None]:
    """Turn the violation of a constraint in the block into a ``Conflict`` that names the other
    project.

    Args:
        row: the columns that are written, ``account_id`` among them.
    """
    try:
        yield
    except IntegrityError as error:
        column = _CONSTRAINTS.get(violated_constraint(error))
        if column is None:
            raise
        found = _OTHER[column].first(account_id=row["account_id"], value=row[column])
        other = "another project" if found is None else f"the project {found.id}"
        message = _MESSAGES[column].format(value=row[column], other=other)
        raise Conflict(message, details=[Detail(column, message)]) from None
