"""Two projects of one account with the same slug, or the same external id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import bindparam
from sqlalchemy.exc import IntegrityError

from app.auth.principal import Principal
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
def naming_conflicts(principal: Principal, **written: str | None) -> Iterator[None]:
    """Turn the violation of a constraint in the block into a ``Conflict`` that names the other
    project, if the principal may see it.

    Args:
        written: the values of the unique columns that are written.
    """
    try:
        yield
    except IntegrityError as error:
        column = _CONSTRAINTS.get(violated_constraint(error))
        if column is None:
            raise
        value = written[column]
        found = _OTHER[column].first(account_id=principal.account_id, value=value)
        is_named = found is not None and principal.sees(found.id)
        other = f"the project {found.id}" if is_named else "another project"
        message = _MESSAGES[column].format(value=value, other=other)
        raise Conflict(message, details=[Detail(column, message)]) from None
